// A certified issuer of OpenID Connect, for one test: node real_issuer.mjs PORT CLIENT_ID CLIENT_SECRET REDIRECT_URI.
// Everybody may sign in with any password, and is in the group editors.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const tools = createRequire(new URL("../tools/console/package.json", import.meta.url));
const { Provider } = await import(pathToFileURL(tools.resolve("oidc-provider")));

const [port, client_id, client_secret, redirect_uri] = process.argv.slice(2);

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [{ client_id, client_secret, redirect_uris: [redirect_uri] }],
  pkce: { required: () => true },
  scopes: ["openid", "profile", "email", "groups"],
  claims: { openid: ["sub"], profile: ["preferred_username"], groups: ["groups"] },
  findAccount: (_, sub) => ({
    accountId: sub,
    claims: () => ({ sub, preferred_username: `${sub} of the issuer`, groups: ["editors"] }),
  }),
});
provider.listen(Number(port), "127.0.0.1", () => process.stdout.write("ready\n"));
