// `mwp export` of a Group that the official SDK worked in: the SDK proves everything in the file from the keys in it, and
// `mwp verify --bundle` proves the Commands that the SDK signed, and finds one that was touched.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readBundle, rowFaults, statementFaults, type Bundle } from './bundle.ts';
import type { Group } from './group.ts';
import { mwp } from './mwp.ts';
import type { JsonObject } from './sdk.ts';
import { BASE, SLUG } from './stage.ts';

/** The lowest of S: the signature stays well-formed, and only the equation fails. */
const S_BYTE = 32;
const SESSION_OPEN = 'ext.missionweaveprotocol.identity.session_open';

export async function checkExport(group: Group, title: string): Promise<void> {
  const { stage, groupId } = group;
  const { checks, sdk, folder, environment } = stage;
  const file = join(folder, `${title}.ndjson`);
  const exported = await mwp(['export', '--org', SLUG, '--group', groupId, '--out', file], environment);
  const claim = `${title}: mwp export writes the Group beside the serving process`;
  checks.mustEqual(claim, { code: exported.code, stderr: exported.stderr }, { code: 0, stderr: '' });
  const text = await readFile(file, 'utf8');
  const bundle = readBundle(sdk, text);
  checkDocuments(group, bundle, title);
  checkLinks(group, bundle, title);
  checks.none(
    `${title}: the authority's statement is signed over the official canonical form, and hashes these lines`,
    statementFaults(sdk, bundle),
  );
  const { document, stateHash } = await stage.traffic.must({
    path: `${BASE}/groups/${encodeURIComponent(groupId)}/state`,
    token: group.cast.olga.token,
  });
  checks.equal(
    `${title}: the stateHash of the statement is the official hash of the state that is read`,
    { stated: bundle.statement['stateHash'], read: stateHash },
    { stated: sdk.sha256Identifier(sdk.canonicalizeJson(document)), read: bundle.statement['stateHash'] },
  );
  await checkOurVerify(group, { file, text, bundle }, title);
}

function checkDocuments({ stage }: Group, { rows, registry }: Bundle, title: string): void {
  const { checks, sdk } = stage;
  const documents = rows('document').map((row) => [String(row['documentKind']), row] as const);
  const kinds: (readonly [string, (readonly [string, JsonObject])[]])[] = [
    ['Commands', rows('command').map((row) => ['command', row] as const)],
    ['Events', rows('event').map((row) => ['event', row] as const)],
  ];
  // In a Group where nothing was published, nothing is embedded.
  if (documents.length > 0)
    kinds.push([`embedded documents (${[...new Set(documents.map(([kind]) => kind))].join(', ')})`, documents]);
  for (const [name, some] of kinds) {
    const faults = some.flatMap(([kind, row]) => rowFaults(sdk, kind, row, registry));
    const claim = `${title}: ${some.length} ${name} of the bundle verify with its own keys, official form and hash`;
    checks.none(claim, some.length === 0 ? ['there are none'] : faults);
  }
}

/** The bundle holds what was sent, all of it, and what was answered. */
function checkLinks({ stage, accepted }: Group, { rows }: Bundle, title: string): void {
  const { checks, sdk } = stage;
  const ofThisRun = rows('command').filter(({ kind }) => kind !== SESSION_OPEN);
  checks.equal(
    `${title}: its Commands are those that the official codec signed, byte for byte and in order`,
    ofThisRun.map(({ body }) => String(body)),
    accepted.map(({ bytes }) => Buffer.from(bytes).toString('utf8')),
  );
  const answered = accepted.flatMap(({ answer }) => answer.body['events'] as readonly JsonObject[]);
  const exported = new Set(rows('event').map(({ body }) => String(body)));
  const missing = answered.map(sdk.canonicalizeJson).filter((text) => !exported.has(text));
  checks.none(`${title}: every answered Event is in it as it was answered`, missing);
  const receipts = new Set(rows('receipt').map(({ body }) => String(body)));
  const unkept = accepted.map(({ answer }) => sdk.canonicalizeJson(answer.body['receipt']));
  checks.none(
    `${title}: so is every receipt`,
    unkept.filter((text) => !receipts.has(text)),
  );
}

interface Exported {
  readonly file: string;
  readonly text: string;
  readonly bundle: Bundle;
}

async function checkOurVerify({ stage, accepted }: Group, { file, text, bundle }: Exported, title: string) {
  const { checks, sdk, folder } = stage;
  const key = bundle.registry.bindings.find(({ keyId }) => keyId === bundle.statement['keyId'])?.publicKey ?? '';
  const proven = await mwp(['verify', '--bundle', file, '--authority-key', key], {});
  checks.equal(
    `${title}: mwp verify --bundle proves it with no database and no master key`,
    { code: proven.code, stderr: proven.stderr, faults: / 0 faults$/m.test(proven.stdout) },
    { code: 0, stderr: '', faults: true },
  );
  const last = accepted.at(-1);
  if (last === undefined) throw new Error('nothing was accepted');
  const { value } = last.document['signature'] as { value: string };
  const turned = sdk.encodeBase64Url(sdk.decodeBase64Url(value).map((byte, at) => (at === S_BYTE ? byte ^ 1 : byte)));
  const touched = join(folder, `${title}-touched.ndjson`);
  await writeFile(touched, text.replaceAll(value, turned));
  const found = await mwp(['verify', '--bundle', touched], {});
  checks.equal(
    `${title}: with one bit of a Command's signature turned it is not proven, and told of that Command`,
    { code: found.code, told: found.stderr.includes(`commands: ${last.signingHash}: signature: `) },
    { code: 1, told: true },
  );
}
