// Error documents and their statuses, one code at a time (MWP-EXT-004; E-table of the requirements).
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { errorDocument, orThrow, refusalResponse, HttpRefusal } from '../../src/http/errors.ts';
import { healthRoutes } from '../../src/http/health.ts';
import { Readiness } from '../../src/http/readiness.ts';
import { STATUS_OF_CODE } from '../../src/http/statuses.ts';
import { createApp } from '../../src/http/app.ts';
import { KeyVault } from '../../src/platform/key-vault.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { checkDocument } from '../../src/protocol/documents/catalogue.ts';
import { ERROR_CODES, refuse } from '../../src/protocol/refusals.ts';
import { temporaryBlobs } from '../support/temporary-blobs.ts';
import { StoreFault, type AuthorityStore, type StoreFaultKind } from '../../src/store/port.ts';

const ALWAYS_RETRYABLE = ['INTERNAL_ERROR', 'BACKPRESSURE'];

describe('error documents', () => {
  it.each(ERROR_CODES)('MWP-EXT-004a: %s validates and says whether the same bytes may be sent again', (code) => {
    const document = errorDocument(refuse(code, 'a message'));
    expect(checkDocument('error', document)).toMatchObject({ valid: true });
    expect(document.retryable).toBe(ALWAYS_RETRYABLE.includes(code));
    expect(STATUS_OF_CODE[code]).toBeGreaterThanOrEqual(400);
  });

  it('MWP-EXT-004a: a rate limit is retryable where time heals it, and Retry-After says so in seconds', async () => {
    const app = new Hono();
    app.get('/time', (c) => refusalResponse(c, refuse('RATE_LIMITED', 'too fast', { retryAfterMs: 1_500 })));
    app.get('/count', (c) => refusalResponse(c, refuse('RATE_LIMITED', 'too many')));
    const [time, count] = [await app.request('/time'), await app.request('/count')];
    expect([time.status, time.headers.get('retry-after')]).toEqual([429, '2']);
    expect(await time.json()).toMatchObject({ retryable: true, retryAfterMs: 1_500 });
    expect(count.headers.get('retry-after')).toBeNull();
    expect(await count.json()).toMatchObject({ retryable: false });
  });

  it('carries every detail of a refusal, and no longer message than the schema takes', () => {
    const detail = { expectedRevision: 0, currentRevision: 3, retryAfterMs: 10, details: { dimension: 'modelTokens' } };
    const context = { relatedActionId: 'urn:x:1', groupId: 'urn:x:2', occurredAt: '2026-11-29T12:00:00.000Z' };
    const document = errorDocument(refuse('REVISION_CONFLICT', 'x'.repeat(3_000), detail), context);
    expect(checkDocument('error', document)).toMatchObject({ valid: true });
    expect(document).toEqual({
      code: 'REVISION_CONFLICT',
      retryable: false,
      ...detail,
      ...context,
      message: 'x'.repeat(2_000),
    });
  });

  it('only AUTH_REQUIRED is 401, so that a client may answer 401 with a login', () => {
    const unauthorized = ERROR_CODES.filter((code) => STATUS_OF_CODE[code] === 401);
    expect(unauthorized).toEqual(['AUTH_REQUIRED']);
  });

  it('a returned refusal is thrown, a value handed on', () => {
    expect(() => orThrow(refuse('AUTH_FORBIDDEN', 'no'))).toThrow(HttpRefusal);
    expect(orThrow({ level: 'full' })).toEqual({ level: 'full' });
  });
});

describe('a database that fails', () => {
  function appThatFails(error: Error) {
    const fail = () => Promise.reject(error);
    const store = {
      organizations: { bySlug: fail, now: fail, all: fail },
      problems: fail,
    } as unknown as AuthorityStore;
    const lines: string[] = [];
    const app = createApp({
      store,
      blobs: temporaryBlobs(),
      snapshotBlobs: temporaryBlobs(),
      auditBlobs: temporaryBlobs(),
      contentBytesMaximum: 1_000,
      authority: { submit: fail },
      signers: { signerOf: fail },
      vault: new KeyVault(Buffer.alloc(32)),
      logger: createLogger('warn', { write: (line) => void lines.push(line) }),
      operatorToken: 'x'.repeat(24),
    });
    return { app, lines };
  }
  const list = { headers: { authorization: `Bearer ${'x'.repeat(24)}` } };

  it.each<StoreFaultKind>(['unavailable', 'busy', 'conflict'])(
    '%s is a retryable 503 that tells nothing more',
    async (kind) => {
      const { app, lines } = appThatFails(new StoreFault(kind, 'secret host db-7'));
      const response = await app.request('/v1/operator/organizations', list);
      const document = (await response.json()) as object;
      expect(response.status).toBe(503);
      expect(document).toMatchObject({ code: 'INTERNAL_ERROR', retryable: true, retryAfterMs: 1_000 });
      expect(JSON.stringify(document)).not.toContain('db-7');
      expect(lines.join('')).toContain('db-7');
    },
  );

  it('corrupt data and bugs are a 500, logged and told to nobody', async () => {
    for (const error of [new StoreFault('corrupt', 'row 9'), new Error('a bug')]) {
      const { app, lines } = appThatFails(error);
      const response = await app.request('/v1/operator/organizations', list);
      expect([response.status, JSON.stringify(await response.json())]).toEqual([
        500,
        expect.not.stringContaining(error.message),
      ]);
      expect(lines.join('')).toContain(error.message);
    }
  });

  it('is alive and not ready', async () => {
    const { app } = appThatFails(new StoreFault('unavailable', 'gone'));
    expect((await app.request('/healthz')).status).toBe(200);
    const ready = await app.request('/readyz');
    expect([ready.status, await ready.json()]).toEqual([
      503,
      { status: 'not_ready', dependencies: { database: 'not_ready' }, problems: ['database: no answer'] },
    ]);
  });

  it('readiness repeats what the store finds wrong, and ends with the stop', async () => {
    let isStopping = false;
    let problems = ['the role may pass row-level security'];
    const readiness = new Readiness({ database: async () => problems }, { freshMilliseconds: 0 });
    const app = healthRoutes({ readiness, isStopping: () => isStopping });
    const ready = async () => (await (await app.request('/readyz')).json()) as object;
    expect(await ready()).toEqual({ status: 'not_ready', dependencies: { database: 'not_ready' }, problems });
    problems = [];
    expect(await ready()).toEqual({ status: 'ready', dependencies: { database: 'ready' } });
    isStopping = true;
    expect(await ready()).toEqual({ status: 'not_ready', problems: ['the service is stopping'] });
  });
});
