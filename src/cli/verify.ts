// `mwp verify`: folds every stream again from its Events and compares order, chain, bodies and state with what is stored,
// and tries the master key on the tenants' keys. The proof that a restored backup is good for serving.
import { replayStream } from '../archive/replay.ts';
import { readMasterKey, readStorageConfig, type StorageConfig } from '../config.ts';
import { openConfiguredStore } from '../main.ts';
import { KeyVault } from '../platform/key-vault.ts';
import { existingLocalMasterKey } from '../platform/master-key.ts';
import type { AuthorityStore, OrganizationRow } from '../store/port.ts';
import { complain, CommandFault, DONE, FAILED, print, readOptions, type CliCommand } from './command-line.ts';

/** Organizations read in one go. */
const PAGE = 100;

export const verify: CliCommand = {
  name: 'verify',
  summary: 'prove that the stored state is what the stored Events say',
  help: `mwp verify [--org SLUG]

Reads the database of this environment (see mwp serve --help), changes nothing, and folds each Group and each log of
the Organization again from its Events: gapless order, hash chain, signed bytes, and the state document with its hash.
Where a master key is configured, or lies in MWP_DATA_DIR, it must open the keys of the Organization's services.
Exit code 1 when anything disagrees.

  --org SLUG  one Organization only`,

  async run(args) {
    const { org } = readOptions(args, { org: { type: 'string' } });
    const config = readStorageConfig(process.env);
    const vault = vaultOf(config);
    const store = await openConfiguredStore(config);
    try {
      const organizations = await selected(store, org);
      const total: Findings = { streams: 0, events: 0, faults: 0 };
      for (const organization of organizations) {
        const found = await verifyOrganization(store, organization, vault);
        for (const name of ['streams', 'events', 'faults'] as const) total[name] += found[name];
      }
      print(`${organizations.length} Organizations, ${sentenceOf(total)}`);
      return total.faults === 0 ? DONE : FAILED;
    } finally {
      await store.close();
    }
  },
};

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

/** One snapshot for the whole Organization, so that a busy service does not look like a fault. */
async function verifyOrganization(
  store: AuthorityStore,
  { organizationId, slug }: OrganizationRow,
  vault: KeyVault | undefined,
): Promise<Findings> {
  const found = await store.read(organizationId, async (reader) => {
    const findings: Findings = { streams: 0, events: 0, faults: 0 };
    for (const streamId of await reader.streamIds()) {
      const report = await replayStream(organizationId, streamId, reader);
      findings.streams += 1;
      findings.events += report.events;
      findings.faults += report.faults.length;
      for (const fault of report.faults) complain(`${slug}  ${streamId}: ${fault}`);
    }
    return findings;
  });
  const keys = await store.organizations.sealedKeys(organizationId);
  let opened = 0;
  for (const { keyId, sealed } of vault ? keys : []) {
    try {
      vault?.open(sealed, { organizationId, keyId });
      opened += 1;
    } catch (error) {
      found.faults += 1;
      complain(`${slug}  ${(error as Error).message}`);
    }
  }
  const ofKeys = vault
    ? `${opened} of ${keys.length} keys open`
    : `${keys.length} keys not tried: no master key is set`;
  print(`${slug}  ${sentenceOf(found)}; ${ofKeys}`);
  return found;
}
