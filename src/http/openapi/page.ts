// The page that shows the document: Swagger UI as it comes in its package, served from there, file by file from a closed
// list, so that no path leads anywhere else. Nothing is fetched from another host.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

export interface PageFile {
  contentType: string;
  bytes: Uint8Array<ArrayBuffer>;
}

const JAVASCRIPT = 'text/javascript; charset=utf-8';

/** Without a `text` they are files of the package. */
export const PAGE_FILES: Readonly<Record<string, { contentType: string; text?: string }>> = {
  'swagger-ui.css': { contentType: 'text/css; charset=utf-8' },
  'swagger-ui-bundle.js': { contentType: JAVASCRIPT },
  'favicon-32x32.png': { contentType: 'image/png' },
  'start.js': {
    contentType: JAVASCRIPT,
    // No validator: it would send the document to a host of somebody else.
    text: `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#page',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 2,
  displayOperationId: true,
  filter: true,
  persistAuthorization: false,
  validatorUrl: null,
});
`,
  },
};

/** Relative, so that it also works behind a proxy that puts the service below a path. */
export const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Group Authority API</title>
<link rel="icon" href="docs/favicon-32x32.png">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="page"></div>
<noscript>This page needs JavaScript. The document itself is <a href="openapi.json">openapi.json</a>.</noscript>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;

/** Scripts, styles and requests of this origin only; pictures also out of the style sheet itself. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const read = new Map<string, Promise<PageFile>>();

/** Undefined: no such file. Each is read once. */
export function pageFile(name: string): Promise<PageFile> | undefined {
  const known = Object.hasOwn(PAGE_FILES, name) ? PAGE_FILES[name] : undefined;
  if (!known) return undefined;
  const { contentType, text } = known;
  const file = read.get(name) ?? bytesOf(name, text).then((bytes) => ({ contentType, bytes }));
  read.set(name, file);
  return file;
}

async function bytesOf(name: string, text: string | undefined): Promise<Uint8Array<ArrayBuffer>> {
  if (text !== undefined) return new TextEncoder().encode(text);
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  return new Uint8Array(await readFile(join(folder, name)));
}
