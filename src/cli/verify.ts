// `mwp verify`: folds every stream again from its Events and compares order, chain, bodies and state with what is stored.
import { replayStream } from '../archive/replay.ts';
import { readConfig } from '../config.ts';
import { openConfiguredStore } from '../main.ts';
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
Exit code 1 when anything disagrees.

  --org SLUG  one Organization only`,

  async run(args) {
    const { org } = readOptions(args, { org: { type: 'string' } });
    const store = await openConfiguredStore(readConfig(process.env));
    try {
      const organizations = await selected(store, org);
      let faults = 0;
      for (const organization of organizations) faults += await verifyOrganization(store, organization);
      return faults === 0 ? DONE : FAILED;
    } finally {
      await store.close();
    }
  },
};

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
function verifyOrganization(store: AuthorityStore, { organizationId, slug }: OrganizationRow): Promise<number> {
  return store.read(organizationId, async (reader) => {
    let streams = 0;
    let events = 0;
    let faults = 0;
    for (const streamId of await reader.streamIds()) {
      const report = await replayStream(organizationId, streamId, reader);
      streams += 1;
      events += report.events;
      faults += report.faults.length;
      for (const fault of report.faults) complain(`${slug}  ${streamId}: ${fault}`);
    }
    print(`${slug}  ${streams} streams, ${events} Events folded, ${faults} faults`);
    return faults;
  });
}
