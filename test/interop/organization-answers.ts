// Cards, which belong to no Group, and the error documents of every kind of request.
import { schemaFaults } from './normative.ts';
import type { JsonObject } from './sdk.ts';
import { BASE, OPERATOR, type Stage } from './stage.ts';

export async function checkCards({ sdk, checks, traffic, registry, cast, cards }: Stage): Promise<void> {
  for (const card of cards) {
    const { agentId } = card as { agentId: string };
    const path = `${BASE}/agents/${encodeURIComponent(agentId)}`;
    const { agentCard, details } = await traffic.must({ path, token: cast.otto.token });
    const bytes = Buffer.from(JSON.stringify(agentCard), 'utf8');
    const { signingHash } = sdk.codec.verify('agent-card', bytes, { resolve: () => registry });
    checks.equal(
      `the Agent Card of ${agentId} verifies, with the official signing hash, and is the one that was registered`,
      { text: sdk.canonicalizeJson(agentCard), hash: (details as JsonObject)['signingHash'] },
      { text: sdk.canonicalizeJson(card), hash: signingHash },
    );
  }
}

/** Beside the refusals of Commands, some of every other kind of request. */
export async function checkErrors(stage: Stage): Promise<void> {
  const { traffic, checks, sdk, cast } = stage;
  const { token } = cast.olga;
  const nowhere = encodeURIComponent('urn:uuid:00000000-0000-4000-8000-000000000000');
  await traffic.send({ path: `${BASE}/me` });
  await traffic.send({ path: '/v1/nowhere' });
  await traffic.send({ path: `${BASE}/groups/${nowhere}`, token });
  await traffic.send({ path: `${BASE}/missions/${nowhere}`, token });
  await traffic.send({ path: `${BASE}/receipts/${nowhere}`, token });
  await traffic.send({ path: `${BASE}/missions?limit=0`, token });
  await traffic.send({ path: `${BASE}/commands`, token, body: '{}', contentType: 'text/plain' });
  const statuses: number[] = [];
  for (let sent = 0; sent < 5; sent += 1) {
    statuses.push((await traffic.send({ path: `${BASE}/commands`, token, body: ' '.repeat(1_100_000) })).status);
  }
  checks.equal('a body beyond the bound is answered, time and again', statuses, [413, 413, 413, 413, 413]);
  await traffic.send({ path: `${BASE}/auth/challenge`, body: { principal: cast.olga.principal } });
  await traffic.send({ path: `${OPERATOR}/organizations` });
  const operator = { token: stage.operatorToken };
  await traffic.send({
    path: `${OPERATOR}/organizations`,
    ...operator,
    body: { slug: 'interop', displayName: 'Again' },
  });
  await traffic.send({ path: `${OPERATOR}/organizations/nobody/policy`, ...operator });
  const { refusals } = traffic;
  const faults = refusals.flatMap(({ request, status, body }) =>
    schemaFaults(sdk, 'error', body, `${status} ${request}`),
  );
  const codes = new Set(refusals.map(({ body }) => String(body['code'])));
  const title = `${refusals.length} error documents with ${codes.size} codes fit the official schema`;
  checks.none(title, faults);
  console.log(`        ${[...codes].sort().join(' ')}`);
}
