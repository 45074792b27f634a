// `mwp verify`: proves everything that was accepted again from what was signed, in a database or in an exported bundle. The
// proof that a restored backup is good for serving.
import { headsText, type AnchoredHead, type AnchoredHeads } from '../archive/heads.ts';
import { verifyOrganization } from '../archive/verify-organization.ts';
import { readMasterKey, readStorageConfig, type StorageConfig } from '../config.ts';
import { KeyVault } from '../platform/key-vault.ts';
import { registrySeal } from '../platform/registry-seal.ts';
import { existingLocalMasterKey } from '../platform/master-key.ts';
import { existingBlobs, openConfiguredStore } from '../storage.ts';
import type { BlobStore } from '../store/port/blobs.ts';
import type { AuthorityStore, OrganizationRow } from '../store/port.ts';
import {
  complain,
  CommandFault,
  DONE,
  FAILED,
  print,
  readOptions,
  UsageFault,
  type CliCommand,
} from './command-line.ts';
import { readHeadsFile, writeNewFile } from './files.ts';
import { Progress } from './progress.ts';
import { verifySealedKeys } from './sealed-keys.ts';
import { VERIFY_HELP } from './verify-help.ts';
import { readOriginalFile, verifyOriginal } from './verify-original.ts';
import { verifyBundleFile } from './verify-bundle.ts';

/** Organizations read in one go. */
const PAGE = 100;

export const verify: CliCommand = {
  name: 'verify',
  summary: 'prove a database, or an exported Group, from what was signed',
  help: VERIFY_HELP,

  async run(args) {
    const options = readOptions(args, {
      org: { type: 'string' },
      heads: { type: 'string' },
      'write-heads': { type: 'string' },
      bundle: { type: 'string' },
      'authority-key': { type: 'string' },
      original: { type: 'string' },
    });
    const { bundle, original, 'authority-key': authorityKey, ...ofDatabase } = options;
    if (bundle !== undefined) {
      if (Object.keys(ofDatabase).length > 0) throw new UsageFault('--bundle reads no database');
      return verifyBundleFile(bundle, authorityKey, original === undefined ? undefined : readOriginalFile(original));
    }
    if (authorityKey !== undefined) throw new UsageFault('--authority-key goes with --bundle');
    if (original !== undefined) {
      const { org, ...heads } = ofDatabase;
      if (org === undefined || Object.keys(heads).length > 0)
        throw new UsageFault('--original goes with --bundle or with --org, and with no heads');
      return verifyOriginal(original, org);
    }
    return verifyDatabase(options.org, options.heads, options['write-heads']);
  },
};

async function verifyDatabase(
  org: string | undefined,
  headsFile: string | undefined,
  newHeadsFile: string | undefined,
): Promise<number> {
  const anchors = headsFile === undefined ? new Map<string, AnchoredHead[]>() : readHeadsFile(headsFile);
  const config = readStorageConfig(process.env);
  const vault = vaultOf(config);
  const store = await openConfiguredStore(config);
  try {
    const blobs = (await existingBlobs(config, store))?.snapshots;
    const organizations = await selected(store, org);
    const total: Findings = { streams: 0, events: 0, faults: 0 };
    const heads = new Map<string, AnchoredHead[]>();
    if (org === undefined) total.faults += lostOrganizations(organizations, anchors);
    for (const organization of organizations) {
      const { organizationId } = organization;
      const found = await verifyOne({ store, blobs, vault }, organization, anchors.get(organizationId) ?? []);
      for (const name of ['streams', 'events', 'faults'] as const) total[name] += found[name];
      heads.set(organizationId, found.heads);
    }
    print(`${organizations.length} Organizations, ${sentenceOf(total)}`);
    if (total.faults > 0) return FAILED;
    if (newHeadsFile !== undefined) writeNewFile(newHeadsFile, headsText(heads));
    return DONE;
  } finally {
    await store.close();
  }
}

interface Findings {
  streams: number;
  events: number;
  faults: number;
}

const sentenceOf = ({ streams, events, faults }: Findings) =>
  `${streams} streams, ${events} Events folded, ${faults} faults`;

function vaultOf({ database, dataDirectory }: StorageConfig): KeyVault | undefined {
  const local = database.engine === 'sqlite' ? existingLocalMasterKey(dataDirectory) : undefined;
  const masterKey = readMasterKey(process.env) ?? local;
  return masterKey && new KeyVault(masterKey);
}

async function selected(store: AuthorityStore, slug: string | undefined): Promise<OrganizationRow[]> {
  if (slug !== undefined) {
    const organization = await store.organizations.bySlug(slug);
    if (!organization) throw new CommandFault(`no Organization ${slug} in this database`);
    return [organization];
  }
  const all: OrganizationRow[] = [];
  for (;;) {
    const page = await store.organizations.all(all.at(-1)?.slug ?? '', PAGE);
    all.push(...page);
    if (page.length < PAGE) return all;
  }
}

function lostOrganizations(organizations: readonly OrganizationRow[], anchors: AnchoredHeads): number {
  const here = new Set<string>(organizations.map(({ organizationId }) => organizationId));
  const lost = [...anchors.keys()].filter((organizationId) => !here.has(organizationId));
  for (const organizationId of lost) complain(`${organizationId} stands in the heads file and is gone`);
  return lost.length;
}

/** One snapshot for the whole Organization, so that a busy service does not look like a fault. */
async function verifyOne(
  { store, blobs, vault }: { store: AuthorityStore; blobs: BlobStore | undefined; vault: KeyVault | undefined },
  organization: OrganizationRow,
  anchors: readonly AnchoredHead[],
): Promise<Findings & { heads: AnchoredHead[] }> {
  const { organizationId, slug } = organization;
  const progress = new Progress(slug);
  const found = await store.read(organizationId, (reader) =>
    verifyOrganization(organization, reader, {
      anchors,
      ...(blobs && { blobs }),
      ...(vault && { checkSeal: registrySeal(vault).check }),
      progress: (_, events) => progress.add(events),
      told: (stream) => {
        progress.clear();
        for (const sentence of stream.sentences) complain(`${slug}  ${stream.streamId}: ${sentence}`);
        for (const note of stream.notes) print(`${slug}  ${stream.streamId}: note: ${note}`);
        if (stream.stateHash === undefined) return;
        const { streamId, events, revision, stateHash } = stream;
        print(`${slug}  ${streamId}  ${events} Events, revision ${revision}, state ${stateHash}`);
      },
    }),
  );
  progress.clear();
  for (const sentence of found.sentences) complain(`${slug}  ${sentence}`);
  for (const note of found.notes) print(`${slug}  note: ${note}`);
  const keys = await verifySealedKeys(store.organizations, organization, vault);
  for (const sentence of keys.sentences) complain(`${slug}  ${sentence}`);
  const faults = found.faults + keys.sentences.length;
  print(`${slug}  ${sentenceOf({ ...found, faults })}; ${keys.told}`);
  return { ...found, faults };
}
