// The wire does not tell why a signature was not believed: over a real connection, every cause gets the same status, the
// same headers in the same order, and the same bytes, but for the times and what the sender itself called its Command.
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen, type Listening } from '../../src/http/listen.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { Vandal } from '../archive/vandal.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { Mission } from '../support/mission.ts';
import { Tenant } from '../support/tenant.ts';
import { Api } from './api.ts';
import { refusedSignatures } from './refused-signatures.ts';

interface Heard {
  status: string;
  /** Names and values in turn, as they came. */
  headers: string[];
  body: string;
  /** What the sender named. */
  sent: { actionId: string; groupId?: string };
  audit: string;
}

/** So that one which is lost is missed. */
const CAUSES = 28;

describe.each(STORES)('$name: refused signatures on the wire', ({ open }) => {
  let opened: OpenedStore;
  let vandal: Vandal;
  let tenant: Tenant;
  const heard = new Map<string, Heard & { expected: string }>();
  let other: Heard;

  beforeAll(async () => {
    opened = await open();
    tenant = await Tenant.create(opened.store);
    const olga = await tenant.human('olga');
    const ada = await tenant.agent('ada');
    const api = new Api(tenant);
    const tokens = { [olga.keyId]: await api.tokenOf(olga) };
    const registrar = tenant.keyOf(tenant.organization.registrar);
    tokens[registrar.keyId] = await api.tokenOf(registrar);
    vandal = await Vandal.over(opened);
    const running = await serving(api);
    const send = async (bytes: Uint8Array, sender: ActorKey, to: Listening) =>
      post(`${to.url}/v1/orgs/${tenant.organization.slug}/commands`, bytes, tokens[sender.keyId] ?? '');
    const otto = await tenant.human('otto');
    const foreign = tenant.sign(otto, Mission.draft(tenant, otto, ada).creation());
    other = { ...(await send(foreign, olga, running)), audit: await lastAudit() };
    for (const { name, audit, bytes, sender, isForNewProcess } of await refusedSignatures(tenant, vandal, olga, ada)) {
      const content = await bytes();
      const to = isForNewProcess ? await serving(new Api(tenant, { store: opened.store, vault: api.vault })) : running;
      heard.set(name, { ...(await send(content, sender, to)), audit: await lastAudit(), expected: audit });
      if (isForNewProcess) await to.close();
    }
    await running.close();
  });
  afterAll(async () => {
    await vandal.close();
    await opened.close();
  });

  const serving = (api: Api) => listen((request) => api.app.fetch(request), { host: '127.0.0.1', port: 0 });

  async function lastAudit(): Promise<string> {
    const rows = await opened.store.read(tenant.organization.organizationId, (reader) => reader.audit(0, 1_000));
    const last = rows.at(-1);
    return `${last?.stage} ${last?.reason}`;
  }

  it('MWP-SDV-011, -018c: the audit has the stage and the reason of each, all that there are', () => {
    const [audits, expected] = [
      [...heard.values()].map(({ audit }) => audit),
      [...heard.values()].map((one) => one.expected),
    ];
    expect(audits.map((audit, index) => audit.slice(0, expected[index]?.length))).toEqual(expected);
    expect(heard.size).toBe(CAUSES);
    const stages = new Set(audits.map((audit) => audit.split(' ')[0]));
    expect([...stages].sort()).toEqual(['admission', 'key-resolution', 'signature', 'signature-envelope']);
  });

  it('MWP-SDV-018b: every cause of stages 3, 4 and 6, of admission and of freshness gets the same bytes', () => {
    const { occurredAt, ...told } = JSON.parse(heard.get('a key that nobody has')?.body ?? '') as Record<
      string,
      unknown
    >;
    expect(occurredAt).toMatch(TIME);
    const { relatedActionId: _action, groupId: _group, ...same } = told;
    expect(same).toEqual({
      code: 'AUTH_INVALID_SIGNATURE',
      message: 'The signature of the document could not be accepted.',
      retryable: false,
    });
    const [first] = [...heard.values()];
    const wires = [...heard].map(([name, answer]) => [name, wire(answer)]);
    expect(wires).toEqual([...heard.keys()].map((name) => [name, wire(first as Heard)]));
  });

  it('MWP-SDV-018b: the comparison sees another refusal, and a byte more in a header or a body', () => {
    const [first] = [...heard.values()] as Heard[] as [Heard];
    expect(other.body).toContain('"code":"AUTH_FORBIDDEN"');
    expect(wire(other)).not.toEqual(wire(first));
    expect(wire({ ...first, body: `${first.body} ` })).not.toEqual(wire(first));
    expect(wire({ ...first, headers: [...first.headers, 'X-Stage', '4'] })).not.toEqual(wire(first));
  });
});

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** All that came, without the times, the name of the request, and what the sender named itself. */
function wire({ status, headers, body, sent }: Heard): unknown {
  const shown = headers.map((value, index) => {
    const name = index % 2 === 1 ? headers[index - 1]?.toLowerCase() : undefined;
    if (name === 'date' || name === 'x-request-id') return 'its own';
    // Follows from the body, which is compared.
    return name === 'content-length' && value === String(Buffer.byteLength(body)) ? 'of the body' : value;
  });
  const group = sent.groupId === undefined ? '' : `"groupId":"${sent.groupId}",`;
  const ids = `"relatedActionId":"${sent.actionId}",${group}`;
  const text = body.replace(ids, '"ids":"of the sender",').replace(/"occurredAt":"([^"]*)"/, (whole, time: string) => {
    return TIME.test(time) ? '"occurredAt":"a time"' : whole;
  });
  return { status, headers: shown, text };
}

function post(url: string, bytes: Uint8Array, token: string): Promise<Omit<Heard, 'audit'>> {
  const sent = JSON.parse(Buffer.from(bytes).toString()) as Heard['sent'];
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const asked = request(url, { method: 'POST', headers }, (answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      answer.on('end', () => {
        const status = `${answer.httpVersion} ${answer.statusCode} ${answer.statusMessage}`;
        resolve({ status, headers: answer.rawHeaders, body, sent });
      });
    });
    asked.on('error', reject).end(bytes);
  });
}
