// The disk is full: nothing that was answered is lost, reading goes on, the answer is an error that says "again", and when
// there is room the service goes on by itself. Then the same with a kill while it is full.
import type { Tally } from '../report.ts';
import type { Theatre } from '../theatre.ts';

/** Whatever makes a disk full. */
export interface Filling {
  fill: (theatre: Theatre) => void | Promise<void>;
  makeRoom: (theatre: Theatre) => void | Promise<void>;
}

/** Milliseconds. */
const LOAD = 300;
const FULL = 700;

export async function fillDisk(
  theatre: Theatre,
  { fill, makeRoom }: Filling,
  times: number,
  tally: Tally,
): Promise<void> {
  const { stage } = theatre;
  for (let time = 1; time <= times; time += 1) {
    await theatre.play(LOAD);
    await fill(theatre);
    tally.fault();
    await theatre.play(FULL);
    const answered = stage.ledger.remembered.length;
    await theatre.play(FULL);
    const putOff = stage.ledger.all().filter((entry) => entry.putOff > 0 && entry.fate.fate === 'unanswered');
    tally.expect(putOff.length > 0, 'no Command was answered with a retryable error while the disk was full');
    tally.expect(theatre.service.isRunning, 'the service did not survive');
    await expectReading(theatre, tally);
    const isKilled = time % 2 === 0;
    if (isKilled) await theatre.service.kill();
    await makeRoom(theatre);
    if (isKilled) {
      await stage.gate.close();
      await theatre.serve();
    }
    await theatre.play(LOAD + FULL);
    tally.expect(stage.ledger.remembered.length > answered, 'nothing was accepted when there was room again');
    await theatre.examine(tally, { whole: time === times });
  }
}

async function expectReading(theatre: Theatre, tally: Tally): Promise<void> {
  const entry = theatre.stage.ledger.all().find(({ fate }) => fate.fate === 'accepted');
  if (entry?.fate.fate !== 'accepted') return tally.violation('nothing had been accepted before the disk was full');
  const receipt = await entry.actor.receipt(entry.command.actionId);
  tally.expect(receipt === entry.fate.receipt, 'a receipt could not be read while the disk was full');
}
