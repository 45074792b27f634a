// `mwp export`: one Group as a file that can be proven without a database.
import { BundleFault } from '../archive/bundle-lines.ts';
import { exportGroup, type Exported, type GroupToExport } from '../archive/export-group.ts';
import { readMasterKey, readStorageConfig } from '../config.ts';
import { openConfiguredStore } from '../storage.ts';
import { KeyVault, UnsealFault } from '../platform/key-vault.ts';
import { existingLocalMasterKey } from '../platform/master-key.ts';
import { registrySeal } from '../platform/registry-seal.ts';
import { VaultSigners } from '../platform/tenant-signers.ts';
import type { AuthorityStore, OrganizationRow } from '../store/port.ts';
import type { Signer } from '../trust/signing.ts';
import { writeAppearing } from './appearing-file.ts';
import { CommandFault, DONE, print, readOptions, required, type CliCommand } from './command-line.ts';
import { Progress } from './progress.ts';

export const exportCommand: CliCommand = {
  name: 'export',
  summary: 'write one Group to a file that proves itself',
  help: `mwp export --org SLUG --group ID --out FILE

Proves the Group as mwp verify does and writes it to a new FILE that only you may read: the keys of all its signers with
their history, every transition with its Events, Command, documents, admission records, receipt and policy entries, and the
Group's signed snapshots. The last line is signed with the key of the Organization's authority, so this needs the master key.
All content is in it but what is erased.
Anybody can then run mwp verify --bundle FILE. FILE is there when it is whole; what is cut short leaves at most a file
FILE.*.partial, with content in it, to be removed.

  --org SLUG   the Organization
  --group ID   the Group
  --out FILE   must not exist`,

  async run(args) {
    const options = readOptions(args, { org: { type: 'string' }, group: { type: 'string' }, out: { type: 'string' } });
    const slug = required(options.org, '--org');
    const groupId = required(options.group, '--group');
    const file = required(options.out, '--out');
    const config = readStorageConfig(process.env);
    const local = config.database.engine === 'sqlite' ? existingLocalMasterKey(config.dataDirectory) : undefined;
    const masterKey = readMasterKey(process.env) ?? local;
    if (!masterKey) throw new CommandFault('the statement is signed by the authority: MWP_MASTER_KEY is missing');
    const store = await openConfiguredStore(config);
    try {
      const organization = await store.organizations.bySlug(slug);
      if (!organization) throw new CommandFault(`no Organization ${slug} in this database`);
      const vault = new KeyVault(masterKey);
      const { check: checkSeal } = registrySeal(vault);
      const exportedAt = await store.organizations.now();
      const signer = await signerOf(store, organization, vault, exportedAt);
      const exported = await writeAppearing(file, (write) =>
        exportTo(store, organization, { groupId, signer, exportedAt, write, checkSeal }),
      );
      const { events, stateHash, registryRevision } = exported;
      print(`${file}  ${events} Events, state ${stateHash}, Registry revision ${registryRevision}`);
      return DONE;
    } finally {
      await store.close();
    }
  },
};

async function signerOf(
  store: AuthorityStore,
  organization: OrganizationRow,
  vault: KeyVault,
  time: string,
): Promise<Signer> {
  try {
    return await new VaultSigners(store.organizations, vault).signerOf(organization, organization.authority, time);
  } catch (error) {
    if (error instanceof UnsealFault) throw new CommandFault(error.message);
    throw error;
  }
}

async function exportTo(
  store: AuthorityStore,
  organization: OrganizationRow,
  group: Pick<GroupToExport, 'groupId' | 'signer' | 'exportedAt' | 'write' | 'checkSeal'>,
): Promise<Exported> {
  const progress = new Progress(group.groupId);
  try {
    return await store.read(organization.organizationId, (reader) =>
      exportGroup(reader, { ...group, organization, progress: (events) => progress.add(events) }),
    );
  } catch (error) {
    if (error instanceof BundleFault) throw new CommandFault(error.message);
    throw error;
  } finally {
    progress.clear();
  }
}
