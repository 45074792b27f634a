// `mwp export`: one Group as a file that can be proven without a database.
import { open, rm } from 'node:fs/promises';
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
import { CommandFault, DONE, print, readOptions, required, type CliCommand } from './command-line.ts';
import { OWNER_ONLY, whyNotWritten } from './files.ts';
import { Progress } from './progress.ts';

/** Characters that wait for one write: a system call for each line would cost more than the line. */
const HELD_MAXIMUM = 262_144;

export const exportCommand: CliCommand = {
  name: 'export',
  summary: 'write one Group to a file that proves itself',
  help: `mwp export --org SLUG --group ID --out FILE

Proves the Group as mwp verify does and writes it to a new FILE that only you may read: the keys of all its signers with
their history, every transition with its Events, Command, documents, admission records, receipt and policy entries, and the
Group's signed snapshots. The last line is signed with the key of the Organization's authority, so this needs the master key.
All content is in it.
Anybody can then run mwp verify --bundle FILE.

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
      const exported = await writeBundle(file, (write) =>
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

/** A file that could not be finished is taken away again. */
async function writeBundle(
  file: string,
  work: (write: (text: string) => Promise<void>) => Promise<Exported>,
): Promise<Exported> {
  const told = (error: unknown): never => {
    throw new CommandFault(whyNotWritten(file, error));
  };
  const handle = await open(file, 'wx', OWNER_ONLY).catch(told);
  let held = '';
  // Goes on from where the last one ended.
  const flush = async () => {
    await handle.writeFile(held).catch(told);
    held = '';
  };
  try {
    const exported = await work(async (text) => {
      held += text;
      if (held.length >= HELD_MAXIMUM) await flush();
    });
    await flush();
    await handle.close().catch(told);
    return exported;
  } catch (error) {
    await handle.close().catch(() => undefined);
    await rm(file, { force: true });
    throw error;
  }
}
