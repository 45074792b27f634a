// What `mwp verify` says of an Organization: sentences with their stream, none when all is well.
import type { SnapshotBlobs } from '../../src/archive/snapshot/ports.ts';
import { verifyOrganization } from '../../src/archive/verify-organization.ts';
import type { AuthorityStore, OrganizationRow } from '../../src/store/port.ts';
import { checkSeal } from './sealing.ts';

export async function verifyEverything(
  store: AuthorityStore,
  organization: Pick<OrganizationRow, 'organizationId' | 'authority'>,
  blobs?: SnapshotBlobs,
): Promise<string[]> {
  const { faults } = await verified(store, organization, blobs);
  return faults;
}

export function verified(
  store: AuthorityStore,
  organization: Pick<OrganizationRow, 'organizationId' | 'authority'>,
  blobs?: SnapshotBlobs,
) {
  return store.read(organization.organizationId, async (reader) => {
    const faults: string[] = [];
    const report = await verifyOrganization(organization, reader, {
      checkSeal,
      ...(blobs && { blobs }),
      told: ({ streamId, sentences }) => faults.push(...sentences.map((sentence) => `${streamId}: ${sentence}`)),
    });
    return { ...report, faults: [...faults, ...report.sentences] };
  });
}
