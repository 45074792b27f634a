// Contents: who may put them and how much, what is refused with nothing left behind, and who may read which.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ActorKey } from '../../src/worker/keys.ts';
import { UPLOAD_KEPT_MILLISECONDS } from '../../src/store/port/uploads.ts';
import type { BlobStore } from '../../src/store/port/blobs.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { Mission } from '../support/mission.ts';
import { Tenant } from '../support/tenant.ts';
import { temporaryBlobs } from '../support/temporary-blobs.ts';
import { Api, errorIn, hashOf, path, putContent, refusalIn, type Answer, type ApiOptions } from './api.ts';

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text));
const ABSENT = hashOf(bytesOf('nobody has ever put this'));
const BOUND = 1_000;
const UNDECLARED = { 'transfer-encoding': 'chunked' };

const PLACES = STORES.flatMap(({ name, open }) => [
  { name, kept: 'in files', open, blobsOf: () => temporaryBlobs() },
  { name, kept: 'in the database', open, blobsOf: ({ store }: OpenedStore) => store.blobs('contents') },
]);

describe.each(PLACES)('$name: contents $kept', ({ open, blobsOf }) => {
  let opened: OpenedStore;
  let tenant: Tenant;
  let api: Api;
  let mission: Mission;
  let olga: ActorKey;
  let ada: ActorKey;
  let bob: ActorKey;
  let millis = Date.now();
  let blobs: BlobStore;
  const apiWith = (options: ApiOptions = {}) =>
    new Api(tenant, { blobs, contentBytesMaximum: BOUND, clock: () => millis, ...options });

  beforeAll(async () => {
    opened = await open({ clock: () => millis });
    blobs = blobsOf(opened);
    tenant = await Tenant.create(opened.store, { clock: () => millis });
    api = apiWith();
    olga = await tenant.human('olga');
    [ada, bob] = [await tenant.agent('ada'), await tenant.agent('bob')];
    mission = await Mission.create(tenant, olga, ada);
    await mission.join(bob);
  });
  afterAll(() => opened.close());

  const get = (key: ActorKey, hash: string) => api.get(key, `/content/${hash}`);
  const uploadOf = (key: ActorKey, hash: string) =>
    opened.store.read(tenant.organization.organizationId, (reader) =>
      reader.upload({ principal: key.principal, hash }),
    );
  const timeless = ({ status, text, headers }: Answer) => ({
    status,
    text: text.replace(/"occurredAt":"[^"]*"/, ''),
    headers: [...headers].filter(([name]) => name !== 'x-request-id').sort(),
  });

  it('MWP-FND-007b: what a member puts under its hash is there, byte for byte; the first time is 201, the next ones are 200', async () => {
    const bytes = Uint8Array.from({ length: 512 }, (_, at) => at % 256);
    const hash = hashOf(bytes);
    const stored = { contentHash: hash, sizeBytes: 512 };
    const first = await api.put(bob, hash, bytes);
    expect([first.status, first.json]).toEqual([201, stored]);
    const again = await api.put(bob, hash, bytes);
    expect([again.status, again.json]).toEqual([200, stored]);
    // The first time of another member is its first time, whatever lies there already.
    expect((await api.put(ada, hash, bytes)).status).toBe(201);
    const token = await api.tokenOf(bob);
    const { slug } = tenant.organization;
    const response = await api.app.request(`/v1/orgs/${slug}/content/${hash}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes);
    const { headers } = response;
    const shown = ['content-type', 'content-length', 'x-content-type-options', 'etag'].map((name) => headers.get(name));
    expect(shown).toEqual(['application/octet-stream', '512', 'nosniff', `"${hash}"`]);
  });

  it('nothing at all is a content, too', async () => {
    const hash = hashOf(new Uint8Array());
    expect((await api.put(bob, hash, new Uint8Array())).status).toBe(201);
    expect(await get(bob, hash)).toMatchObject({ status: 200, text: '' });
  });

  it('who has it is told so with 304, and HEAD tells its length without a byte', async () => {
    const hash = await putContent(api, bob, 'asked for again');
    const token = await api.tokenOf(bob);
    const below = `/content/${hash}`;
    for (const known of [`"${hash}"`, `W/"${hash}"`, `"other", "${hash}"`, '*']) {
      const answer = await api.org('GET', below, { token, headers: { 'if-none-match': known } });
      expect([known, answer.status, answer.text, answer.headers.get('etag')]).toEqual([known, 304, '', `"${hash}"`]);
    }
    const other = await api.org('GET', below, { token, headers: { 'if-none-match': '"other"' } });
    expect([other.status, other.text]).toEqual([200, 'asked for again']);
    const head = await api.org('HEAD', below, { token });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '15']);
    // Who may not read it is not told by these either.
    const stranger = await tenant.human('stranger');
    const asked = { token: await api.tokenOf(stranger), headers: { 'if-none-match': '*' } };
    expect((await api.org('GET', below, asked)).status).toBe(404);
  });

  it('bytes of another hash, a hash that is none, too many, of another type or in part: refused, with nothing left behind', async () => {
    const bytes = bytesOf('what came');
    const hash = hashOf(bytes);
    const big = new Uint8Array(BOUND + 1);
    const wrong: [string, Answer, string][] = [
      ['another hash', await api.put(bob, ABSENT, bytes), '422 INVALID_COMMAND'],
      ['a bare digest', await api.put(bob, hash.slice(7), bytes), '422 INVALID_COMMAND'],
      ['capitals', await api.put(bob, hash.toUpperCase(), bytes), '422 INVALID_COMMAND'],
      ['more than the bound', await api.put(bob, hashOf(big), big), '413 PROTOCOL_VIOLATION'],
      ['more as it comes', await api.put(bob, hashOf(big), big, UNDECLARED), '413 PROTOCOL_VIOLATION'],
      ['a length that is none', await api.put(bob, hash, bytes, { 'content-length': '-1' }), '400 PROTOCOL_VIOLATION'],
      ['encoded', await api.put(bob, hash, bytes, { 'content-encoding': 'gzip' }), '415 PROTOCOL_VIOLATION'],
      ['a part', await api.put(bob, hash, bytes, { 'content-range': 'bytes 0-8/20' }), '400 PROTOCOL_VIOLATION'],
      [
        'JSON',
        await api.org('PUT', `/content/${hash}`, { token: await api.tokenOf(bob), body: {} }),
        '415 PROTOCOL_VIOLATION',
      ],
    ];
    for (const [what, answer, refusal] of wrong) expect([what, refusalIn(answer)]).toEqual([what, refusal]);
    expect(wrong.at(-1)?.[1].headers.get('accept')).toBe('application/octet-stream');
    for (const refused of [hash, ABSENT, hashOf(big)]) {
      expect(await uploadOf(bob, refused)).toBeUndefined();
      expect(await blobs.size(tenant.organization.organizationId, refused)).toBeUndefined();
    }
    const exact = new Uint8Array(BOUND);
    expect((await api.put(bob, hashOf(exact), exact, UNDECLARED)).status).toBe(201);
  });

  it('MWP-MSN-010d: only an active member of a Group puts contents', async () => {
    const [carl, dora] = [await tenant.human('carl'), await tenant.agent('dora')];
    const bytes = bytesOf('let me in');
    for (const outsider of [carl, dora]) {
      expect(refusalIn(await api.put(outsider, hashOf(bytes), bytes))).toBe('403 MEMBERSHIP_REQUIRED');
    }
    await mission.join(dora);
    expect((await api.put(dora, hashOf(bytes), bytes)).status).toBe(201);
    await mission.accept(ada, 'membership.end', { principal: dora.principal, reason: 'Done' });
    expect(refusalIn(await api.put(dora, hashOf(bytes), bytes))).toBe('403 MEMBERSHIP_REQUIRED');
  });

  it('what is put and not published is bounded by number and by bytes; publishing makes room, and waiting does not', async () => {
    const eve = await tenant.agent('eve');
    await mission.join(eve);
    const bounded = apiWith({ uploadQuota: { count: 2, bytes: 20 } });
    const putBy = (text: string, headers?: Record<string, string>) =>
      bounded.put(eve, hashOf(bytesOf(text)), bytesOf(text), headers);
    expect((await putBy('ten bytes.')).status).toBe(201);
    const refused = await putBy('eleven here');
    expect(refusalIn(refused)).toBe('429 RATE_LIMITED');
    expect(errorIn(refused)).toMatchObject({
      retryable: false,
      details: { limit: 'unpublished_content_bytes', maximum: 20 },
    });
    expect(refused.headers.get('retry-after')).toBeNull();
    // Without a length it may become as large as any.
    expect(refusalIn(await putBy('short', UNDECLARED))).toBe('429 RATE_LIMITED');
    expect((await putBy('short')).status).toBe(201);
    expect(errorIn(await putBy('x')).details).toMatchObject({ limit: 'unpublished_content_count' });
    expect((await putBy('short')).status).toBe(200);
    await mission.publish(eve, await mission.active(eve), 'ten bytes.');
    expect((await putBy('ten more..')).status).toBe(201);
    // Others have a quota of their own.
    expect((await bounded.put(olga, hashOf(bytesOf('ten bytes.')), bytesOf('ten bytes.'))).status).toBe(201);
  });

  it('MWP-MSN-012: who may read a manifest that names it reads the content; to the others it is what nobody has', async () => {
    const fay = await tenant.agent('fay');
    const [carol, dan] = [await tenant.agent('carol'), await tenant.human('dan')];
    const other = await Mission.create(tenant, dan, carol);
    const content = 'for this Group alone';
    const hash = await putContent(api, bob, content);
    // Before there is a manifest it is its uploader's alone.
    for (const key of [olga, ada, fay, carol]) expect(refusalIn(await get(key, hash))).toBe('404 INVALID_COMMAND');
    const item = await mission.active(bob);
    await mission.publish(bob, item, content);
    for (const key of [olga, ada, bob]) expect(await get(key, hash)).toMatchObject({ status: 200, text: content });
    for (const key of [fay, carol, dan]) {
      const none = timeless(await get(key, ABSENT));
      expect(timeless(await get(key, hash))).toEqual(none);
      for (const odd of ['sha256:', hash.slice(7), `${hash}0`, path(hash.toUpperCase())]) {
        expect([odd, timeless(await get(key, odd))]).toEqual([odd, none]);
      }
    }
    // Who comes later sees what its own WorkItem names as input, and no more.
    const late = await putContent(api, bob, 'not for whoever came later');
    await mission.publish(bob, item, 'not for whoever came later');
    await mission.join(fay);
    expect(await get(fay, hash)).toMatchObject({ status: 404 });
    await mission.active(fay, { inputArtifacts: [hash] });
    expect(await get(fay, hash)).toMatchObject({ status: 200, text: content });
    expect(await get(fay, late)).toMatchObject({ status: 404 });
    await mission.accept(ada, 'membership.end', { principal: fay.principal, reason: 'Done' });
    expect(await get(fay, hash)).toMatchObject({ status: 404 });
    // The same content of another Group is as readable as that one's manifest.
    await other.join(bob);
    await other.publish(bob, await other.active(bob), content);
    expect(await get(carol, hash)).toMatchObject({ status: 200, text: content });
    expect(await get(carol, late)).toMatchObject({ status: 404 });
  });

  it('a manifest of bytes that nobody put leads to nothing', async () => {
    await mission.publish(bob, await mission.active(bob), 'never put');
    expect(refusalIn(await get(olga, hashOf(bytesOf('never put'))))).toBe('404 INVALID_COMMAND');
  });

  it('MWP-SDV-018c: auditors read every content of their Organization', async () => {
    const iris = await tenant.human('iris');
    const hash = await putContent(api, bob, 'to be audited');
    expect(await get(iris, hash)).toMatchObject({ status: 404 });
    const { organizations } = opened.store;
    const { organizationId } = tenant.organization;
    const policy = await organizations.policy(organizationId);
    const auditing = { ...policy, version: policy.version + 1, auditors: [iris.principal] };
    await organizations.changeRegistry(organizationId, { policy: auditing });
    expect(await get(iris, hash)).toMatchObject({ status: 200, text: 'to be audited' });
    expect(await get(iris, ABSENT)).toMatchObject({ status: 404 });
  });

  it('another Organization has none of it', async () => {
    const elsewhere = await Tenant.create(opened.store, { clock: () => millis });
    const theirs = new Api(elsewhere, { blobs, clock: () => millis });
    const oscar = await elsewhere.human('oscar');
    const hash = await putContent(api, bob, 'of this Organization');
    expect(timeless(await theirs.get(oscar, `/content/${hash}`))).toEqual(
      timeless(await theirs.get(oscar, `/content/${ABSENT}`)),
    );
    const owned = await Mission.create(elsewhere, oscar, await elsewhere.agent('otto'));
    expect(owned.groupId).not.toBe(mission.groupId);
    expect(await putContent(theirs, oscar, 'of this Organization')).toBe(hash);
  });

  it('a damaged content breaks off and is logged; putting it again mends it', async () => {
    const { organizationId } = tenant.organization;
    const hash = await putContent(api, bob, 'whole and sound');
    const damaged = apiWith({
      blobs: {
        put: (...given) => blobs.put(...given),
        size: (...given) => blobs.size(...given),
        remove: (...given) => blobs.remove(...given),
        hashes: (...given) => blobs.hashes(...given),
        clearIncoming: (...given) => blobs.clearIncoming(...given),
        get: async () =>
          (async function* () {
            yield* [];
            const { BlobFault } = await import('../../src/store/port/blobs.ts');
            throw new BlobFault('corrupt', 'what lies there is not that');
          })(),
      },
    });
    await expect(damaged.get(bob, `/content/${hash}`)).rejects.toThrow('is not that');
    const line = damaged.log
      .map((text) => JSON.parse(text) as Record<string, unknown>)
      .find(({ level }) => level === 50);
    expect(line).toMatchObject({ msg: 'a stored content is damaged', tenant: organizationId, contentHash: hash });
    expect((await api.put(bob, hash, bytesOf('whole and sound'))).status).toBe(200);
  });

  it('what no manifest names after a day goes when the next content comes; what one names stays', async () => {
    const { organizationId } = tenant.organization;
    const [kept, gone] = [await putContent(api, bob, 'kept for good'), await putContent(api, bob, 'gone tomorrow')];
    await mission.publish(bob, await mission.active(bob), 'kept for good');
    millis += UPLOAD_KEPT_MILLISECONDS;
    const later = apiWith();
    for (let time = 0; time < 3; time += 1) await putContent(later, olga, `the next ${time}`);
    expect(await blobs.size(organizationId, gone)).toBeUndefined();
    expect(await later.get(bob, `/content/${gone}`)).toMatchObject({ status: 404 });
    expect(await later.get(bob, `/content/${kept}`)).toMatchObject({ status: 200, text: 'kept for good' });
  });
});
