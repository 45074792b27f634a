// Bad Commands, bad logins and garbage of one tenant, many at a time, until told to stop.
import { randomUUID } from 'node:crypto';
import { generateActorKey } from '../../../src/worker/keys.ts';
import type { RecordedTenant } from './recorded-tenant.ts';

const AT_ONCE = 20;

/** How many requests that were. */
export async function floodUntil(recorded: RecordedTenant, ended: () => boolean): Promise<number> {
  const { tenant } = recorded;
  const mallory = await tenant.human('mallory');
  const token = await recorded.tokenOf(mallory);
  const stranger = { ...mallory, signer: generateActorKey(mallory.principal).signer };
  const command = (key: typeof mallory) =>
    tenant.sign(
      key,
      { kind: 'work.propose', groupId: `urn:uuid:${randomUUID()}`, payload: {} },
      { membershipEpoch: 1 },
    );
  const kinds = [
    () => recorded.org('POST', '/commands', { token, body: command(stranger) }),
    () => recorded.org('POST', '/commands', { token, body: command(mallory) }),
    () => recorded.org('POST', '/commands', { token, body: Buffer.from('{"a":') }),
    () => recorded.logIn(stranger),
    () => recorded.ask('GET', '/v1/orgs/org-first/me', { token }),
    () => recorded.org('GET', '/me', { token }),
  ];
  let sent = 0;
  const flooding = async () => {
    while (!ended()) await kinds[(sent += 1) % kinds.length]?.();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, flooding));
  return sent;
}
