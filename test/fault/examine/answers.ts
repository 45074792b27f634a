// What was answered is there, byte for byte, and is said again in the same bytes; what was not answered is retried and
// happens once; what was refused left no trace.
import type { Behind } from '../../contract/behind.ts';
import type { Look } from '../ground.ts';
import { digest, type Entry, type Ledger, type Remembered } from '../ledger.ts';
import type { Registered } from '../players/registrar.ts';
import type { Chance } from '../random.ts';
import { commandBodies } from './bodies.ts';
import { quote, rowsIn, rowsOf } from './sql.ts';

/** Of the answered Commands of one look, so many are sent again, and so many receipts are asked for. */
const REPEATED = 10;
const ASKED_FOR = 5;
/** Sendings of an unanswered Command until the service says what became of it. */
const RETRIES_MAXIMUM = 40;
const RETRY_PAUSE_MS = 50;

interface StoredReceipt {
  actor_id: string;
  action_id: string;
  signing_hash: string;
  body: string;
  event_ids: string;
}

/** The service is up, and nobody else speaks to it. */
export async function examineAnswers(ledger: Ledger, look: Look, chance: Chance): Promise<string[]> {
  const { behind } = look;
  const entries = ledger.all();
  const accepted = entries.filter(({ fate }) => fate.fate === 'accepted');
  return [
    ...(await examineAccepted(accepted, look, chance)),
    ...(await examineRefused(entries, behind)),
    ...(await examineUnanswered(entries, ledger, behind)),
  ];
}

async function examineAccepted(accepted: readonly Entry[], look: Look, chance: Chance): Promise<string[]> {
  const faults: string[] = [];
  const stored = await receiptsOf(accepted, look.behind);
  const bodies = await commandBodies(
    look,
    accepted.map(({ command }) => command.signingHash),
  );
  for (const entry of accepted) {
    const sent = Buffer.from(entry.command.bytes).toString('utf8');
    if (bodies.get(entry.command.signingHash) !== sent) faults.push(`${nameOf(entry)}: is not stored as it was sent`);
    const told = entry.fate.fate === 'accepted' ? entry.fate.receipt : '';
    if (stored.get(keyOf(entry))?.body !== told) faults.push(`${nameOf(entry)}: an answered receipt is not stored so`);
  }
  for (const entry of chance.some(accepted, REPEATED)) faults.push(...(await examineRepeat(entry)));
  for (const entry of chance.some(accepted, ASKED_FOR)) {
    const told = entry.fate.fate === 'accepted' ? entry.fate.receipt : '';
    const asked = await entry.actor.receipt(entry.command.actionId);
    if (asked !== told) faults.push(`${nameOf(entry)}: GET answers another receipt`);
  }
  return faults;
}

async function examineRepeat(entry: Entry): Promise<string[]> {
  const told = entry.fate.fate === 'accepted' ? entry.fate.receipt : '';
  const again = await insist(entry);
  if (again.fate !== 'accepted') return [`${nameOf(entry)}: accepted, and then ${JSON.stringify(again)}`];
  if (!again.duplicate) return [`${nameOf(entry)}: happened twice`];
  return again.receipt === told ? [] : [`${nameOf(entry)}: the receipt has other bytes the second time`];
}

/** Two raced, or a session took over. Anything else that is refused for good was not to be. */
const EXPECTED_REFUSALS: readonly string[] = [
  'AUTH_STALE_SESSION',
  'MEMBERSHIP_STALE',
  'INVALID_STATE_TRANSITION',
  'WORK_ALREADY_OWNED',
  'WORK_LEASE_EXPIRED',
  'WORK_OFFER_EXPIRED',
  'WORK_STALE_OWNERSHIP',
];

/** Refused Commands, those that were refused after a retry included. */
async function examineRefused(entries: readonly Entry[], behind: Behind): Promise<string[]> {
  const refused = entries.filter(({ fate }) => fate.fate === 'refused');
  const hashes = refused.map(({ command }) => quote(command.signingHash));
  const traces = await rowsIn<{ signing_hash: string }>(
    behind,
    'SELECT signing_hash FROM {commands} WHERE signing_hash IN $list',
    hashes,
  );
  const odd = refused.filter(({ fate }) => fate.fate === 'refused' && !EXPECTED_REFUSALS.includes(fate.code));
  return [
    ...traces.map(({ signing_hash }) => `${signing_hash}: refused, and left a Command behind`),
    ...odd.map((entry) => `${nameOf(entry)}: refused with ${JSON.stringify(entry.fate)}`),
  ];
}

async function examineUnanswered(entries: readonly Entry[], ledger: Ledger, behind: Behind): Promise<string[]> {
  const unanswered = entries.filter(({ fate }) => fate.fate === 'unanswered');
  const before = await receiptsOf(unanswered, behind);
  const faults: string[] = [];
  for (const entry of unanswered) {
    const there = before.get(keyOf(entry));
    if (there && entry.sends === 0) faults.push(`${nameOf(entry)}: happened before it was sent`);
    const fate = await insist(entry);
    if (fate.fate === 'unanswered') {
      faults.push(`${nameOf(entry)}: no answer to ${RETRIES_MAXIMUM} retries`);
      continue;
    }
    ledger.settle(entry, fate);
    if (fate.fate === 'refused') {
      if (there) faults.push(`${nameOf(entry)}: had happened, and its retry is refused with ${fate.code}`);
      continue;
    }
    if (fate.duplicate !== (there !== undefined)) faults.push(`${nameOf(entry)}: duplicate is ${fate.duplicate}`);
    if (there && there.body !== fate.receipt) faults.push(`${nameOf(entry)}: its retry gets another receipt`);
    faults.push(...(await examineRepeat(entry)));
  }
  const after = await receiptsOf(unanswered, behind);
  for (const entry of unanswered) {
    if (entry.fate.fate !== 'accepted') continue;
    if (after.get(keyOf(entry))?.body !== entry.fate.receipt) faults.push(`${nameOf(entry)}: retried and not stored`);
  }
  return faults;
}

/** Every receipt that was ever answered, by its hash. */
export async function examineRemembered(remembered: readonly Remembered[], behind: Behind): Promise<string[]> {
  const rows = await rowsOf<StoredReceipt & { actor_type: string }>(
    behind,
    'SELECT actor_type, actor_id, action_id, body FROM {receipts}',
  );
  const stored = new Map(rows.map((row) => [`${row.actor_type} ${row.actor_id} ${row.action_id}`, row.body]));
  return remembered
    .filter(({ actorType, actorId, actionId, receiptHash }) => {
      return digest(stored.get(`${actorType} ${actorId} ${actionId}`) ?? '') !== receiptHash;
    })
    .map(({ actionId }) => `${actionId}: an answered receipt is gone`);
}

/** What the operator was told is registered. */
export async function examineRegistered(registered: readonly Registered[], behind: Behind): Promise<string[]> {
  const names = async (text: string) =>
    new Set((await rowsOf<{ name: unknown }>(behind, text)).map(({ name }) => String(name)));
  const bound = await names(`SELECT p.principal_id AS name FROM {principals} p JOIN {key_bindings} b
    ON b.organization_id = p.organization_id AND b.principal_type = p.principal_type AND b.principal_id = p.principal_id`);
  const cards = await names(`SELECT id AS name FROM {aggregates} WHERE kind = 'agent_card'`);
  const organizations = await names(`SELECT o.organization_id AS name FROM {organizations} o
    JOIN {policies} p ON p.organization_id = o.organization_id
    WHERE (SELECT count(*) FROM {sealed_keys} s WHERE s.organization_id = o.organization_id) = 3
      AND (SELECT count(*) FROM {key_bindings} b WHERE b.organization_id = o.organization_id) >= 3`);
  const policies = await names(`SELECT o.slug || ' ' || CAST(p.version AS text) AS name FROM {policies} p
    JOIN {organizations} o ON o.organization_id = p.organization_id`);
  const isThere = ({ slug, what, name }: Registered) =>
    ({
      principal: () => bound.has(name),
      card: () => bound.has(name) && cards.has(name),
      organization: () => organizations.has(name),
      policy: () => policies.has(`${slug} ${name}`),
    })[what]();
  return registered.filter((one) => !isThere(one)).map(({ what, name }) => `${what} ${name}: answered, and not there`);
}

async function insist(entry: Entry) {
  for (let retry = 1; ; retry += 1) {
    const { fate } = await entry.actor.send(entry);
    if (fate.fate !== 'unanswered' || retry === RETRIES_MAXIMUM) return fate;
    await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS));
  }
}

async function receiptsOf(entries: readonly Entry[], behind: Behind): Promise<Map<string, StoredReceipt>> {
  const keys = entries.map(({ actor, command }) => {
    const { type, id } = actor.key.principal;
    return `(${[type, id, command.actionId].map(quote).join(', ')})`;
  });
  const text = 'SELECT * FROM {receipts} WHERE (actor_type, actor_id, action_id) IN $list';
  const rows = await rowsIn<StoredReceipt>(behind, text, keys);
  return new Map(rows.map((row) => [`${row.actor_id} ${row.action_id}`, row]));
}

function keyOf({ actor, command }: Entry): string {
  return `${actor.id} ${command.actionId}`;
}

function nameOf({ command, sends }: Entry): string {
  return `${command.kind} ${command.actionId}, sent ${sends} times`;
}
