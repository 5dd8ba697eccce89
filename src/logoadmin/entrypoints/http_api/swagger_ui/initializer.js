"use strict";

// The interface is where this page is, under whatever prefix the browser knows it.
const place = new URL(".", document.baseURI).href;
const description = new URL("openapi.json", place).href;

// A proxy that takes a prefix off the paths leaves the document without it, so the page puts in what it sees.
function placed(response) {
  if (response.url !== description || !response.ok) return response;
  const shown = JSON.parse(response.text);
  shown.servers = [{ url: place.replace(/\/$/, "") }];
  for (const { flows } of Object.values(shown.components.securitySchemes)) {
    if (!flows?.password) continue;
    const there = new URL(flows.password.tokenUrl, description).pathname;
    flows.password.tokenUrl = shown.servers[0].url + Object.keys(shown.paths).find((path) => there.endsWith(path));
  }
  response.text = JSON.stringify(shown);
  return response;
}

SwaggerUIBundle({
  url: description,
  dom_id: "#swagger-ui",
  deepLinking: true,
  validatorUrl: null, // the default asks a service on the internet
  responseInterceptor: placed,
});
