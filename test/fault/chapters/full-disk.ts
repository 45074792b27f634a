// The disk is full: nothing that was answered is lost, reading goes on, the answer is an error that says "again", and when
// there is room the service goes on by itself. Then the same with a kill while it is full.
import type { Tally } from '../report.ts';
import type { Theatre } from '../theatre.ts';

/** Whatever makes a disk full. */
export interface Filling {
  fill: (theatre: Theatre) => void | Promise<void>;
  makeRoom: (theatre: Theatre) => void | Promise<void>;
}

/** Commands accepted before the disk is filled, and again when there is room. */
const ACCEPTED = 20;
/** Commands that are put off before the disk has been full for long enough. */
const PUT_OFF = 10;
/** Milliseconds until what was under way when the disk became full has been answered. */
const SETTLING = 200;

export async function fillDisk(
  theatre: Theatre,
  { fill, makeRoom }: Filling,
  times: number,
  tally: Tally,
): Promise<void> {
  const { ledger, gate } = theatre.stage;
  const untilAccepted = (more: number, from = ledger.remembered.length) =>
    theatre.until(() => ledger.remembered.length >= from + more);
  const putOff = () => ledger.all().filter((entry) => entry.putOff > 0 && entry.fate.fate === 'unanswered').length;
  for (let time = 1; time <= times; time += 1) {
    await untilAccepted(ACCEPTED);
    await fill(theatre);
    tally.fault();
    await theatre.play(SETTLING);
    const isPutOff = await theatre.until(() => putOff() >= PUT_OFF);
    tally.expect(isPutOff, 'no Commands were answered with a retryable error while the disk was full');
    tally.expect(theatre.service.isRunning, 'the service did not survive');
    await expectReading(theatre, tally);
    const isKilled = time % 2 === 0;
    if (isKilled) await theatre.service.kill();
    await makeRoom(theatre);
    if (isKilled) {
      await gate.close();
      await theatre.serve();
    }
    tally.expect(await untilAccepted(ACCEPTED), 'nothing was accepted when there was room again');
    await theatre.examine(tally, { whole: time === times });
  }
}

async function expectReading(theatre: Theatre, tally: Tally): Promise<void> {
  const entry = theatre.stage.ledger.all().find(({ fate }) => fate.fate === 'accepted');
  if (entry?.fate.fate !== 'accepted') return tally.violation('nothing had been accepted before the disk was full');
  const receipt = await entry.actor.receipt(entry.command.actionId);
  tally.expect(receipt === entry.fate.receipt, 'a receipt could not be read while the disk was full');
}
