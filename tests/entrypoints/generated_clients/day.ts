/** A day's work with the types that openapi-typescript generated, and openapi-fetch. */
import createClient from "openapi-fetch";
import type { paths } from "./api.d.ts";

function must(isTrue: boolean, about: unknown): asserts isTrue {
  if (!isTrue) throw new Error(JSON.stringify(about));
}

/** Octets, whose schema is a string, are sent as they are. */
const octets = { headers: { "Content-Type": "application/octet-stream" }, bodySerializer: (body: unknown) => body as BodyInit };

export async function day(baseUrl: string, password: string, file: Uint8Array<ArrayBuffer>): Promise<void> {
  const client = createClient<paths>({ baseUrl });
  const tokens = await client.POST("/api/auth/token", { body: { grant_type: "password", username: "admin", password } });
  must(tokens.data !== undefined, tokens.error);
  const token = tokens.data.access_token;
  client.use({ onRequest: ({ request }) => request.headers.set("Authorization", `Bearer ${token}`) });

  const created = await client.POST("/api/authors", { body: { user_id: 2042, username: "Bea" } });
  must(created.data !== undefined, created.error);
  const { author_id } = created.data;
  const ifMatch = { path: { author_id }, header: { "If-Match": created.response.headers.get("etag") ?? "" } };
  const amended = await client.PATCH("/api/authors/{author_id}", { params: ifMatch, body: { username: "Beatrice" } });
  must(amended.data?.username === "Beatrice", amended.error);
  const outdated = await client.PATCH("/api/authors/{author_id}", { params: ifMatch, body: { username: "Beate" } });
  must(outdated.response.status === 412, outdated);
  const listed = await client.GET("/api/authors", { params: { query: { q: "beatrice" } } });
  must(listed.data?.length === 1 && listed.data[0]?.username === "Beatrice", listed);

  const sent = await client.POST("/api/pictures", { ...octets, body: file as unknown as string });
  must(sent.data !== undefined, sent.error);

  const look = { name: "Dusk", target: "forum", custom_css: "a { color: red }", preview_url: sent.data.url };
  const proposed = await client.POST("/api/proposals", {
    body: { title: "Dusk", changes: [{ kind: "logo", create: { ...look, author_ids: [author_id] } }] },
  });
  must(proposed.data !== undefined, proposed.error);
  const { proposal_id } = proposed.data;
  const applied = await client.POST("/api/proposals/{proposal_id}/apply", {
    params: { path: { proposal_id }, header: { "If-Match": proposed.response.headers.get("etag") ?? "" } },
  });
  const artwork = applied.data?.artworks[0];
  must(artwork !== undefined, applied.error);
  const logo = await client.GET("/api/logos/{logo_id}", { params: { path: { logo_id: artwork.id } } });
  must(logo.data?.name === "Dusk" && logo.data.authors[0]?.username === "Beatrice", logo);

  const lines = await client.GET("/api/export", { parseAs: "text" });
  must(lines.data !== undefined, lines.error);
  const imported = await client.POST("/api/import", { ...octets, body: lines.data });
  must(imported.data?.["logo"]?.unchanged === lines.data.split('"logo"').length - 1, imported);
}
