// The service is killed at each point of an erasure. The next one goes on: in the end no body holds a word of what was erased,
// nothing else is missing, and the whole history proves itself, which takes longer the more there is: it is a short one. Whoever
// examines rows wants every body there, so no other chapter plays on this database.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { EVENT_ERASE } from '../../../src/protocol/retention.ts';
import type { AuthorityStore, NamedPoint } from '../../../src/store/port.ts';
import type { OrganizationRow } from '../../../src/store/port.ts';
import { examineReplay } from '../examine/invariants.ts';
import type { Look } from '../ground.ts';
import type { Tally } from '../report.ts';
import type { Theatre } from '../theatre.ts';
import type { Organization } from '../world.ts';
import { spoken } from '../players/talk.ts';

export const ERASURE_POINTS = [
  'erasure-rendered',
  'erasure-stored',
  'erasure-taken',
  'erasure-removed',
] as const satisfies readonly NamedPoint[];

/** Milliseconds of load after what will be erased was said: in that time it is sealed, or is not. */
const PLAYED_MAXIMUM = 1_500;
/** Milliseconds; an erasure that takes longer hangs. */
const ERASED_MAXIMUM = 60_000;
const LOOK_INTERVAL = 250;

export async function killErasures(theatre: Theatre, tally: Tally): Promise<void> {
  const { chance } = theatre.stage;
  for (const point of ERASURE_POINTS) {
    const organization = chance.of(theatre.organizations);
    const word = `erased-${randomUUID()}`;
    await theatre.stage.gate.close();
    const messageId = await theatre.stage.gate.alone(() => say(organization, word));
    await theatre.play(chance.whole(0, PLAYED_MAXIMUM));
    await theatre.stage.gate.close();
    tally.expect(await isFound(theatre, organization, word), `${point}: what is to be erased is not there`);
    theatre.service.setTrap({ point, passing: 1, signal: 'SIGKILL' });
    const { groupId } = teamOf(organization);
    const payload = { messageId, reasonCode: 'personal_data' };
    const answered = theatre.stage.gate.alone(() =>
      organization.archivist.submit({ kind: EVENT_ERASE, groupId, payload }),
    );
    const isPassed = await Promise.race([theatre.service.ended.then(() => true), delay(ERASED_MAXIMUM, false)]);
    tally.expect(isPassed, `${point} is never passed`);
    if (!isPassed) await theatre.service.kill();
    tally.fault();
    await theatre.serve();
    tally.expect((await answered) !== undefined, `${point}: the erasure was refused`);
    tally.expect(await isErased(theatre, organization), `${point}: the erasure is never done`);
    tally.expect(!(await isFound(theatre, organization, word)), `${point}: a word is left of what was erased`);
    for (const alarm of theatre.service.alarms) tally.violation(`${point}: the service alarmed: ${alarm}`);
    const { faults } = await theatre.ground.look(({ store, spaces }) => examineReplay(store, spaces.snapshots));
    for (const fault of faults) tally.violation(`${point}: ${fault}`);
    console.log(`  ${theatre.ground.engine}, ${point}: erased`);
  }
}

/** Said and corrected. */
async function say(organization: Organization, word: string): Promise<string> {
  const { owner, groupId, conversationId } = teamOf(organization);
  const payload = spoken(conversationId, word);
  const { messageId } = payload;
  const correction = { amendmentId: `urn:uuid:${randomUUID()}`, messageId, reason: word, replacementContent: word };
  const isSaid = await owner.submit({ kind: 'message.post', groupId, payload });
  if (!isSaid || !(await owner.submit({ kind: 'message.correct', groupId, payload: correction })))
    throw new Error('what is to be erased was refused');
  return messageId;
}

function teamOf({ teams: [team] }: Organization) {
  if (!team) throw new Error('nobody to say anything');
  return team;
}

/** PostgreSQL keeps deleted bytes until its owner scrubs it. */
async function isErased(theatre: Theatre, { slug }: Organization): Promise<boolean> {
  const final = theatre.ground.engine === 'sqlite' ? 'scrubbed' : 'removed';
  for (const deadline = Date.now() + ERASED_MAXIMUM; Date.now() < deadline; await delay(LOOK_INTERVAL)) {
    const isDone = await theatre.ground.look(async ({ store }) => {
      const { organizationId } = await organizationOf(store, slug);
      for (const state of ['due', 'taken', 'removed'] as const) {
        if (state !== final && (await store.erasures.inState(organizationId, state, '', 1)).length > 0) return false;
      }
      return true;
    });
    if (isDone) return true;
  }
  return false;
}

/** In the body of an Event or of its Command, sealed or not, or in a text. */
function isFound(theatre: Theatre, organization: Organization, word: string): Promise<boolean> {
  const { groupId } = teamOf(organization);
  return theatre.ground.look(async ({ store, behind }: Look) => {
    if ((await behind.query(`SELECT 1 FROM {texts} WHERE value LIKE '%${word}%'`)).length > 0) return true;
    const { organizationId } = await organizationOf(store, organization.slug);
    return store.read(organizationId, async (reader) => {
      for (let after = 0; ;) {
        const events = await reader.events(groupId, after, 200);
        const commands = await reader.commands(events.map(({ commandHash }) => commandHash));
        if ([...events, ...commands].some(({ body }) => body.includes(word))) return true;
        const last = events.at(-1);
        if (!last) return false;
        after = last.position;
      }
    });
  });
}

async function organizationOf({ organizations }: AuthorityStore, slug: string): Promise<OrganizationRow> {
  const found = (await organizations.all('', 200)).find((organization) => organization.slug === slug);
  if (!found) throw new Error(`no Organization ${slug}`);
  return found;
}
