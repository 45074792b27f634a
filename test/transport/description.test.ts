// The description of the API: it is valid, whole, says what the schemas say, and is there for everybody at any time.
import { Validator } from '@seriousme/openapi-schema-validator';
import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { executedCommandKinds } from '../../src/domain/commands/catalogue.ts';
import { createApp } from '../../src/http/app.ts';
import { componentSchemas } from '../../src/http/openapi/components.ts';
import { EXAMPLE_COMMAND, EXAMPLE_PUBLIC_KEY } from '../../src/http/openapi/example-command.ts';
import { openapiDocument } from '../../src/http/openapi/document.ts';
import { declaredRoutes } from '../../src/http/openapi/route-table.ts';
import { ADVICE_OF_CODE } from '../../src/http/advice.ts';
import { STATUS_OF_CODE } from '../../src/http/statuses.ts';
import { KeyVault } from '../../src/platform/key-vault.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { VERSION } from '../../src/platform/package.ts';
import { DOCUMENT_NAMES } from '../../src/protocol/documents/catalogue.ts';
import { ERROR_CODES } from '../../src/protocol/refusals.ts';
import type { AuthorityStore } from '../../src/store/port.ts';
import { importPublicKey, nativeVerify } from '../../src/trust/ed25519.ts';
import { signingBytes } from '../../src/trust/signing.ts';
import { decodeBase64url } from '../../src/wire/base64url.ts';
import { Described } from './described.ts';

/** Whatever would ask a database fails. */
function appWithoutDatabase() {
  const fail = () => Promise.reject(new Error('no database may be asked'));
  const store = { organizations: { bySlug: fail, now: fail, all: fail }, problems: fail } as unknown as AuthorityStore;
  return createApp({
    store,
    blobs: { put: fail, get: fail, size: fail, remove: fail, hashes: fail, clearIncoming: fail },
    snapshotBlobs: { put: fail, get: fail, size: fail, remove: fail },
    auditBlobs: { get: fail },
    contentBytesMaximum: 1_000,
    authority: { submit: fail },
    signers: { signerOf: fail },
    vault: new KeyVault(Buffer.alloc(32)),
    logger: createLogger('silent'),
    operatorToken: 'x'.repeat(24),
  });
}

const BUNDLE = new URL('../../../shared/mwp/', import.meta.url);

describe('the description of the API', () => {
  const app = appWithoutDatabase();
  let described: Described;
  beforeAll(async () => {
    described = new Described(await (await app.request('/openapi.json')).json());
  });

  it('is accepted by an external validator, as OpenAPI 3.1 of this release', async () => {
    const validator = new Validator();
    expect(await validator.validate(structuredClone(described.document))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
    expect(described.document).toMatchObject({ openapi: '3.1.1', info: { version: VERSION } });
  });

  it('lists every route of the application and no other', () => {
    const routed = app.routes.filter(({ method }) => method !== 'ALL');
    const asked = routed.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`);
    const listed = described.operations.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(listed)).toEqual(new Set(asked));
    expect(listed.length).toBeGreaterThan(35);
    const ids = described.operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('does not come to be while a route is undeclared', () => {
    const undeclared = appWithoutDatabase();
    undeclared.get('/forgotten', (c) => c.text('here I am'));
    expect(() => openapiDocument(declaredRoutes(undeclared.routes))).toThrow('GET /forgotten has no declaration');
  });

  it('every check says something: only free JSON is described as anything', () => {
    const open: string[] = [];
    const visit = (value: unknown, path: string): void => {
      if (typeof value !== 'object' || value === null) return;
      const members = Object.entries(value);
      if (members.length === 0 && /\/(properties|anyOf|oneOf)\/[^/]+$|\/(items|additionalProperties)$/.test(path))
        open.push(path);
      for (const [name, member] of members) if (name !== 'example') visit(member, `${path}/${name}`);
    };
    visit(componentSchemas(), '');
    // The value of an extension, and the object in which this very document is described.
    const expected =
      /\/extensions\/(anyOf\/0\/)?additionalProperties\/properties\/data$|^\/Description\/additionalProperties$/;
    expect(open.filter((path) => !expected.test(path))).toEqual([]);
    expect(open.length).toBeGreaterThan(0);
  });

  it('MWP-FND-004a: its schemas take every valid document of the published bundle', () => {
    const read = (path: string) => JSON.parse(readFileSync(new URL(path, BUNDLE), 'utf8')) as unknown;
    let taken = 0;
    for (const { schema, instance, valid } of read('conformance/manifest.json') as Vector[]) {
      const name = DOCUMENT_NAMES.find((known) => schema === `schemas/${known}.schema.json`);
      if (!valid || name === undefined || !described.knows(pascal(name))) continue;
      expect([instance, described.component(pascal(name), read(instance))]).toEqual([instance, []]);
      taken += 1;
    }
    expect(taken).toBeGreaterThan(15);
  });

  it('tells the payload of every kind that is executed', () => {
    for (const kind of executedCommandKinds()) {
      expect(described.knows(kind)).toBe(true);
      expect(described.knows(`${kind}Payload`)).toBe(true);
    }
  });

  it('MWP-SDV-001: its example is a Command that is really signed, by a key that everybody knows', async () => {
    const key = importPublicKey(EXAMPLE_PUBLIC_KEY);
    const signature = decodeBase64url(EXAMPLE_COMMAND.signature.value);
    if (!key.ok || !signature) throw new Error('no key');
    expect(await nativeVerify(key.key, signature, signingBytes(EXAMPLE_COMMAND))).toBe(true);
  });

  it('every example fits the schema that it stands beside', () => {
    let examples = 0;
    for (const operation of described.operations) {
      for (const { pointer, example } of described.contentsOf(operation)) {
        if (example === undefined) continue;
        expect([pointer, described.faults(pointer, example)]).toEqual([pointer, []]);
        examples += 1;
      }
    }
    expect(examples).toBeGreaterThan(100);
  });

  it('is for everybody, holds nothing of a tenant, and is there without a database', async () => {
    const [one, other] = [await app.request('/openapi.json'), await appWithoutDatabase().request('/openapi.json')];
    expect([one.status, one.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await one.text()).toBe(await other.text());
  });

  it('may be kept and is asked for again: 304 while it is the same', async () => {
    const first = await app.request('/openapi.json');
    const etag = first.headers.get('etag') ?? '';
    expect([first.headers.get('cache-control'), etag]).toEqual(['no-cache', expect.stringMatching(/^"[\w-]{43}"$/)]);
    const again = await app.request('/openapi.json', { headers: { 'if-none-match': etag } });
    expect([again.status, await again.text(), again.headers.get('cache-control')]).toEqual([304, '', 'no-cache']);
    const changed = await app.request('/openapi.json', { headers: { 'if-none-match': '"of another release"' } });
    expect(changed.status).toBe(200);
  });

  it('MWP-SDV-010c: the Registry’s format is labelled as internal, and no tenant’s route has a member of it', () => {
    for (const file of ['http-api.md', 'decisions/0023-the-log-of-a-registry.md']) {
      const text = readFileSync(new URL(`../../docs/${file}`, import.meta.url), 'utf8').replace(/\s+/g, ' ');
      expect([file, /(Registry is kept|The format) is internal/.test(text)]).toEqual([file, true]);
    }
    // What the log's own entries are made of, and whatever else names the Registry.
    const isOfTheRegistry = (name: string) => /registry|^(changes|seal|validity|bindings)$/i.test(name);
    const { schemas } = described.document['components'] as { schemas: Record<string, unknown> };
    const named = Object.entries(schemas).filter(([, schema]) => membersOf(schema).some(isOfTheRegistry));
    const operators = named.map(([name]) => `"#/components/schemas/${name}"`);
    const shown = new Set(named.flatMap(([, schema]) => membersOf(schema).filter(isOfTheRegistry)));
    expect([...shown]).toEqual(['registryRevision']);
    for (const { method, path, operation } of described.operations) {
      const text = JSON.stringify(operation);
      const shows =
        membersOf(operation).some(isOfTheRegistry) || operators.some((reference) => text.includes(reference));
      expect([method, path, shows && !path.startsWith('/v1/operator/')]).toEqual([method, path, false]);
      expect(path).not.toMatch(/registry/i);
    }
    expect(operators.length).toBeGreaterThan(2);
  });

  it('docs/http-api.md says of each code what the description says', () => {
    const text = readFileSync(new URL('../../docs/http-api.md', import.meta.url), 'utf8').replace(/ +/g, ' ');
    for (const code of ERROR_CODES) {
      const { meaning, todo } = ADVICE_OF_CODE[code];
      expect(text).toContain(`| \`${code}\` | ${STATUS_OF_CODE[code]} | ${meaning} | ${todo} |`);
    }
  });
});

/** Names of the members that a schema, or anything with schemas in it, describes. */
function membersOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([name, value]: [string, unknown]) => [
    ...(name === 'properties' && typeof value === 'object' && value !== null ? Object.keys(value) : []),
    ...membersOf(value),
  ]);
}

describe('the page that shows it', () => {
  const app = appWithoutDatabase();

  it('names only files that are there, of this origin, and allows no other', async () => {
    const page = await app.request('/docs');
    const html = await page.text();
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    const named = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name]) => name as string);
    expect(named).toHaveLength(5);
    for (const name of named) {
      const file = await app.request(`/${name}`);
      expect([name, file.status, file.headers.get('x-content-type-options')]).toEqual([name, 200, 'nosniff']);
      expect((await file.arrayBuffer()).byteLength).toBeGreaterThan(100);
    }
    expect((await app.request('/docs/swagger-ui.css')).headers.get('content-type')).toMatch(/^text\/css/);
    expect((await app.request('/docs/start.js')).headers.get('content-type')).toMatch(/^text\/javascript/);
  });

  it('gives no file that is not on its list', async () => {
    const folder = readdirSync(new URL('../../node_modules/swagger-ui-dist/', import.meta.url));
    const others = folder.filter((name) => !/^(swagger-ui\.css|swagger-ui-bundle\.js|favicon-32x32\.png)$/.test(name));
    const wrong = [
      '../package.json',
      '..%2fpackage.json',
      '%2e%2e/package.json',
      '..%5cpackage.json',
      '__proto__',
      'constructor',
      '',
      '%00',
    ];
    for (const name of [...others, ...wrong]) {
      expect([name, (await app.request(`/docs/${name}`)).status]).toEqual([name, 404]);
    }
    expect(others.length).toBeGreaterThan(5);
  });
});

interface Vector {
  schema: string;
  instance: string;
  valid: boolean;
}

function pascal(name: string): string {
  return name.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
