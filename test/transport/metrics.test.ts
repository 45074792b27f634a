// What Prometheus reads: the right figures after what happened, for who may read them, and no more series than are allowed.
import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { TENANT_LABELS_MAXIMUM } from '../../src/platform/metrics.ts';
import { EVENT_ERASE } from '../../src/protocol/retention.ts';
import { signCommand } from '../../src/worker/commands.ts';
import { generateActorKey } from '../../src/worker/keys.ts';
import { agentCard } from './cards.ts';
import { ENGINES, newMission, newPlace, OPERATOR_TOKEN, sign, Serving, SLUG, type Engine } from '../support/serving.ts';

describe('metrics', { timeout: 60_000 }, () => {
  const opened: (() => void | Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close();
  });

  async function start(engine: Engine, environment: Record<string, string | undefined> = {}): Promise<Serving> {
    const place = await newPlace(engine);
    opened.push(place.giveBack);
    const serving = await Serving.start({ ...place.environment, MWP_LOG_LEVEL: 'silent', ...environment });
    opened.push(() => serving.service.stop());
    return serving;
  }

  const read = (url: string, token?: string) =>
    fetch(`${url}/metrics`, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } });

  it.each(ENGINES)('count what became of Commands and logins, and time their phases, on %s', async (engine) => {
    const serving = await start(engine);
    await serving.people();
    const before = parse(await (await read(serving.url, OPERATOR_TOKEN)).text());
    const command = serving.creation();
    expect((await serving.submit(serving.olga, command.bytes)).status).toBe(200);
    expect((await serving.submit(serving.olga, command.bytes)).status).toBe(200);
    expect((await serving.submit(serving.ada, serving.creation().bytes)).status).toBe(403);
    expect((await serving.submit(serving.olga, Buffer.from('{'))).status).toBe(400);
    const after = parse(await (await read(serving.url, OPERATOR_TOKEN)).text());
    const rise = (series: string) => (after.get(series) ?? NaN) - (before.get(series) ?? 0);

    expect(rise('mwp_commands_total{kind="mission.create",outcome="accepted"}')).toBe(1);
    expect(rise('mwp_commands_total{kind="mission.create",outcome="duplicate"}')).toBe(1);
    expect(rise('mwp_commands_total{kind="mission.create",outcome="AUTH_FORBIDDEN"}')).toBe(1);
    expect(rise('mwp_commands_total{kind="other",outcome="PROTOCOL_VIOLATION"}')).toBe(1);
    expect(rise(`mwp_tenant_commands_total{tenant="${SLUG}",outcome="refused"}`)).toBe(2);
    expect(rise('mwp_trust_failures_total{stage="parse"}')).toBe(1);
    expect(rise('mwp_audit_records_total')).toBe(2);
    expect(rise('mwp_audit_records_lost_total')).toBe(0);
    expect(rise('mwp_logins_total{outcome="accepted"}')).toBe(2);
    expect(rise('mwp_commit_transitions_count')).toBe(1);
    expect(rise('mwp_command_phase_seconds_count{phase="prepare"}')).toBe(4);
    expect(rise('mwp_command_phase_seconds_count{phase="open"}')).toBe(3);
    expect(rise('mwp_command_phase_seconds_count{phase="commit"}')).toBe(1);
    expect(rise('mwp_queue_wait_seconds_count{queue="turns"}')).toBe(6);
    const commands = 'method="POST",route="/v1/orgs/:slug/commands"';
    expect(rise(`mwp_http_requests_total{${commands},status="200"}`)).toBe(2);
    expect(rise(`mwp_http_request_duration_seconds_count{${commands}}`)).toBe(4);
    expect(rise('mwp_http_refusals_total{code="AUTH_FORBIDDEN"}')).toBe(1);
    expect(after.get('mwp_http_requests_under_way')).toBe(1); // this one
    expect([...after.keys()].some((series) => series.startsWith('nodejs_eventloop_lag'))).toBe(true);
    expect([...after.keys()].some((series) => series.startsWith(`mwp_build_info{version="`))).toBe(true);
    if (engine === 'sqlite') return;
    expect(rise('mwp_database_transaction_round_trips_sum{purpose="acceptance"}')).toBe(2 + 1 + 1);
    expect(rise('mwp_database_round_trip_seconds_count{statement="write_batch"}')).toBe(1);
    expect(after.get('mwp_database_pool_connections{state="limit"}')).toBe(10);
    expect(after.get('mwp_database_pool_waiting')).toBe(0);
    expect(after.get('mwp_database_connections_opened_total')).toBeGreaterThan(0);
  });

  it('count what is done beside the traffic, and what failed of it', async () => {
    const place = await newPlace('sqlite');
    opened.push(place.giveBack);
    const serving = await Serving.start({ ...place.environment, MWP_LOG_LEVEL: 'silent' });
    opened.push(() => serving.service.stop());
    await serving.people();
    const eraser = generateActorKey({ type: 'service', id: `urn:uuid:${randomUUID()}` });
    const keys = [{ keyId: eraser.keyId, publicKey: eraser.publicKey }];
    const principal = { principal: eraser.principal, displayName: 'Eraser', keys };
    await serving.operate('POST', `/organizations/${SLUG}/principals`, principal);
    const policy = (await (await serving.operate('GET', `/organizations/${SLUG}/policy`)).json()) as {
      services: object[];
    };
    const services = [...policy.services, { serviceId: eraser.principal.id, kinds: [EVENT_ERASE], relay: false }];
    const changed = { ...policy, services, onlineWindow: { events: 10 }, snapshotEvery: 5 };
    const put = await serving.operate('PUT', `/organizations/${SLUG}/policy`, changed);
    expect([put.status, await put.text()]).toEqual([200, expect.anything()]);
    const client = serving.client(serving.olga);
    await client.logIn();
    const creation = newMission(serving.olga, serving.ada).creation();
    const { groupId } = creation as { groupId: string };
    const created = await client.submit(sign(serving.olga, creation));
    if (!created.ok) throw new Error(created.problem.message);
    const conversationId = created.value.events.find(({ kind }) => kind === 'mission.created')?.conversationId ?? '';
    const say = async () => {
      const payload = { messageId: `urn:uuid:${randomUUID()}`, conversationId, content: 'It goes on.' };
      const draft = { kind: 'message.post' as const, groupId, payload };
      const said = await client.submit(signCommand(serving.olga, draft, { membershipEpoch: 1 }, Date.now()));
      if (!said.ok) throw new Error(said.problem.message);
      return payload.messageId;
    };
    const messageId = await say();
    for (let count = 0; count < 20; count += 1) await say();
    const before = parse(await (await read(serving.url, OPERATOR_TOKEN)).text());
    expect(before.get('mwp_upkeep_failures_total')).toBe(0);
    const payload = { messageId, reasonCode: 'personal_data' };
    const order = signCommand(eraser, { kind: EVENT_ERASE, groupId, payload }, {}, Date.now());
    expect((await serving.submit(eraser, order.bytes)).status).toBe(200);
    await serving.service.lookAfterGroups();
    const after = parse(await (await read(serving.url, OPERATOR_TOKEN)).text());
    for (const state of ['taken', 'removed', 'scrubbed'])
      expect([state, after.get(`mwp_erasure_steps_total{state="${state}"}`)]).toEqual([state, 1]);
    expect(after.get('mwp_upkeep_segments_total')).toBeGreaterThan(0);
    expect(after.get('mwp_upkeep_snapshots_total')).toBeGreaterThan(0);
    expect(after.get('mwp_upkeep_failures_total')).toBe(0);

    // Where segments lay is a file now.
    const segments = join(place.environment['MWP_DATA_DIR'] ?? '', 'blobs', 'segments');
    rmSync(segments, { recursive: true });
    writeFileSync(segments, '');
    const second = await say();
    for (let count = 0; count < 20; count += 1) await say();
    await serving.service.lookAfterGroups();
    const again = signCommand(
      eraser,
      { kind: EVENT_ERASE, groupId, payload: { ...payload, messageId: second } },
      {},
      Date.now(),
    );
    expect((await serving.submit(eraser, again.bytes)).status).toBe(200);
    await serving.service.lookAfterGroups();
    const failed = parse(await (await read(serving.url, OPERATOR_TOKEN)).text());
    expect(failed.get('mwp_upkeep_failures_total')).toBeGreaterThan(0);
    expect(failed.get('mwp_erasure_failures_total')).toBeGreaterThan(0);
  });

  it('are for the operator alone beside the API, and not there without an operator', async () => {
    const serving = await start('sqlite');
    expect((await read(serving.url)).status).toBe(401);
    expect((await read(serving.url, 'x'.repeat(30))).status).toBe(401);
    const good = await read(serving.url, OPERATOR_TOKEN);
    expect([good.status, good.headers.get('content-type')]).toEqual([200, expect.stringContaining('version=0.0.4')]);
    const without = await start('sqlite', { MWP_OPERATOR_TOKEN: '' });
    expect((await read(without.url, OPERATOR_TOKEN)).status).toBe(404);
  });

  it('have a listener of their own with MWP_METRICS_PORT, on which there is nothing else', async () => {
    const serving = await start('sqlite', { MWP_METRICS_PORT: '0' });
    const url = serving.service.metricsUrl ?? '';
    expect(new URL(url).hostname).toBe('127.0.0.1');
    expect((await read(url)).status).toBe(200);
    expect((await fetch(`${url}/readyz`)).status).toBe(404);
    expect((await fetch(`${url}/v1/operator/organizations`)).status).toBe(404);
    await serving.service.stop();
    await expect(read(url)).rejects.toThrow();
    const { port } = new URL((await start('sqlite')).url);
    await expect(start('sqlite', { MWP_METRICS_PORT: port })).rejects.toThrow(/^MWP_METRICS_PORT cannot be used/);
  });

  it('get no new series from what strangers send', async () => {
    const serving = await start('sqlite');
    await serving.people();
    const attack = async (round: number) => {
      const name = `round-${round}`;
      await fetch(`${serving.url}/v1/orgs/${name}/me`);
      await fetch(`${serving.url}/${name}`, { method: 'PROPFIND' });
      await fetch(`${serving.url}/v1/orgs/${name}/auth/challenge`, { method: 'POST', body: name });
      await fetch(`${serving.url}/v1/operator/${name}`, { headers: { 'x-request-id': name, traceparent: name } });
      const bytes = Buffer.from(serving.creation().bytes).toString().replace('mission.create', `mission.${name}`);
      await serving.submit(serving.olga, Buffer.from(bytes));
    };
    // So many that the guesses at the operator's token have met their limit, which is one answer more.
    for (let round = 0; round < 30; round += 1) await attack(round);
    const before = parse(await (await read(serving.url, OPERATOR_TOKEN)).text());
    for (let round = 30; round < 60; round += 1) await attack(round);
    const text = await (await read(serving.url, OPERATOR_TOKEN)).text();
    const added = [...parse(text).keys()].filter((series) => !before.has(series));
    expect(added.filter((series) => !series.includes('route="/metrics"') && !series.startsWith('nodejs_gc'))).toEqual(
      [],
    );
    expect(text).not.toContain('round-');
  });

  it(`name ${TENANT_LABELS_MAXIMUM} tenants and count the others together`, async () => {
    const serving = await start('sqlite');
    for (let tenant = 0; tenant < TENANT_LABELS_MAXIMUM + 5; tenant += 1) {
      const slug = `tenant-${tenant}`;
      await serving.operate('POST', '/organizations', { slug, displayName: slug });
      const card = agentCard(serving.ada);
      expect((await serving.operate('POST', `/organizations/${slug}/agents`, { card })).status).toBe(201);
    }
    const series = parse(await (await read(serving.url, OPERATOR_TOKEN)).text());
    const labels = [...series.keys()].filter((name) => name.startsWith('mwp_tenant_commands_total{'));
    expect(labels.length).toBe(TENANT_LABELS_MAXIMUM + 1);
    expect(series.get('mwp_tenant_commands_total{tenant="other",outcome="accepted"}')).toBe(5);
  });
});

/** Each line is a comment or a sample of the text format; a text that is none fails the test. */
function parse(text: string): Map<string, number> {
  const samples = new Map<string, number>();
  for (const line of text.split('\n')) {
    if (line === '' || /^# (HELP|TYPE) [a-z_0-9]+ /.test(line)) continue;
    const found = /^([a-z_0-9]+(?:\{(?:[a-z_]+="[^"]*",?)+\})?) (-?[0-9.e+-]+|Nan|\+Inf)$/i.exec(line);
    if (!found) throw new Error(`no sample: ${line}`);
    const [, series = '', value = ''] = found;
    if (samples.has(series)) throw new Error(`twice: ${series}`);
    samples.set(series, Number(value));
  }
  return samples;
}
