// The process is held for longer than a lease lives. Authority time is read under the locks, so what waited before them is
// judged by the time after the pause; and what holds the locks was there before anybody else.
import { setTimeout as delay } from 'node:timers/promises';
import type { NamedPoint } from '../../../src/store/port.ts';
import type { Accepted } from '../../../src/worker/answers.ts';
import { Task } from '../players/work.ts';
import type { Tally } from '../report.ts';
import type { Theatre } from '../theatre.ts';

const RENEW = 'ext.missionweaveprotocol.core.work_execution_lease_renew';
const LEASE_SECONDS = 2;
/** Milliseconds beyond the lease. */
const LONGER = 500;

/** Where the process is held, and whether the lease may act afterwards. */
const HELD: readonly { point: NamedPoint; after?: NamedPoint; acts: boolean }[] = [
  { point: 'command-prepared', acts: false },
  { point: 'turn-taken', acts: false },
  // The clock was read under the locks, and they are still held.
  { point: 'locked-and-loaded', acts: true },
  // Of the renewal: segments and snapshots are committed, too, and whoever waits for that is late.
  { point: 'commit-due', after: 'decided', acts: true },
];

export async function pauseAtPoints(theatre: Theatre, tally: Tally): Promise<void> {
  const [organization] = theatre.organizations;
  const team = organization?.teams[0];
  const worker = team?.workers[0];
  if (!team || !worker) throw new Error('nobody works');
  await theatre.stage.gate.close();
  for (const { point, after, acts } of HELD) {
    await theatre.stage.gate.alone(async () => {
      const task = await Task.begun(team, worker, LEASE_SECONDS);
      theatre.service.setTrap({ point, ...(after && { after }), passing: 1, signal: 'SIGSTOP' });
      const answering = task.under(RENEW, { leaseSeconds: LEASE_SECONDS });
      await theatre.service.untilHeld();
      await delay(task.leaseLeft() + LONGER);
      theatre.service.signal('SIGCONT');
      tally.fault();
      judge(point, acts, await answering, task.leaseEnd, tally);
    });
    await theatre.examine(tally, { whole: false });
  }
}

function judge(point: NamedPoint, acts: boolean, answer: Accepted | undefined, leaseEnd: string, tally: Tally): void {
  if (!acts) return tally.expect(answer === undefined, `held at ${point}, an expired lease was renewed`);
  tally.expect(answer !== undefined, `held at ${point} under its locks, a renewal in time was refused`);
  const acceptedAt = answer?.receipt.acceptedAt ?? '';
  tally.expect(acceptedAt < leaseEnd, `held at ${point}, accepted at ${acceptedAt} under a lease until ${leaseEnd}`);
}
