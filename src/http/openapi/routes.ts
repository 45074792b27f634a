// GET /openapi.json and GET /docs: the description of the API, and a page to browse it. Both are for everybody, hold nothing
// of any tenant, and ask no database.
import { createHash } from 'node:crypto';
import { Hono, type Context } from 'hono';
import { etag } from 'hono/etag';
import { z } from 'zod';
import { fail } from '../errors.ts';
import { jsonText } from '../json-text.ts';
import { component } from './components.ts';
import { declared, type Operation } from './operation.ts';
import { PAGE, PAGE_POLICY, pageFile, PAGE_FILES } from './page.ts';

/** May be kept, and is asked for again each time, which costs a 304: a new release is seen at once. */
const REVALIDATED = 'no-cache';
/** Seconds that a browser keeps the page's own files: some minutes after an upgrade the old ones still serve. */
const FILE_SECONDS = 600;

const UNCHANGED = { description: 'Not changed since the `ETag` that was sent.', headers: ['ETag'] } as const;

const DOCUMENT: Operation = {
  id: 'readDescription',
  tag: 'Service',
  summary: 'This document',
  access: 'public',
  faultless: true,
  answers: {
    200: {
      description: 'An OpenAPI 3.1 document.',
      schema: component('Description', z.looseObject({ openapi: z.string() })),
      headers: ['ETag'],
    },
    304: UNCHANGED,
  },
};

const BROWSE: Operation = {
  id: 'browseDescription',
  tag: 'Service',
  summary: 'A page to browse this document',
  access: 'public',
  faultless: true,
  answers: { 200: { description: 'The page.', contentTypes: ['text/html'], headers: ['ETag'] }, 304: UNCHANGED },
};

const FILE: Operation = {
  id: 'readPageFile',
  tag: 'Service',
  summary: 'A file of that page',
  access: 'public',
  faultless: true,
  answers: {
    200: {
      description: 'The file.',
      contentTypes: [...new Set(Object.values(PAGE_FILES).map(({ contentType }) => contentType))],
      headers: ['ETag'],
    },
    304: UNCHANGED,
  },
  refusals: [{ code: 'PROTOCOL_VIOLATION', status: 404 }],
};

/** `text` gives the document, which can only be written when all routes are known. */
export function descriptionRoutes(text: () => string): Hono {
  const routes = new Hono();
  for (const path of ['/openapi.json', '/docs', '/docs/*']) routes.use(path, etag());
  routes.get(
    '/openapi.json',
    declared(DOCUMENT, (c) => jsonText(tagged(c, text(), REVALIDATED), text())),
  );
  routes.get(
    '/docs',
    declared(BROWSE, (c) => {
      c.header('Content-Security-Policy', PAGE_POLICY);
      c.header('Referrer-Policy', 'no-referrer');
      return tagged(c, PAGE, REVALIDATED).html(PAGE);
    }),
  );
  routes.get(
    '/docs/:file',
    declared(FILE, async (c) => {
      const found = await pageFile(c.req.param('file') ?? '');
      if (!found) throw fail('PROTOCOL_VIOLATION', 'no such path or method', { status: 404 });
      c.header('Content-Type', found.contentType);
      return tagged(c, found.bytes, `public, max-age=${FILE_SECONDS}`).body(found.bytes);
    }),
  );
  return routes;
}

function tagged<Given extends Context>(c: Given, content: string | Uint8Array, cacheControl: string): Given {
  c.header('Cache-Control', cacheControl);
  c.header('ETag', `"${createHash('sha256').update(content).digest('base64url')}"`);
  return c;
}
