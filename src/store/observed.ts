// A store whose acceptances are timed from the outside, the same way for every engine: what an adapter does between two
// calls of ours is its own business.
import type { StoreObserver } from './observer.ts';
import type { AuthorityStore, OrganizationStore } from './port.ts';

export function observedStore(store: AuthorityStore, observer: StoreObserver): AuthorityStore {
  return {
    engine: store.engine,
    organizations: observedOrganizations(store.organizations, observer),
    uploads: store.uploads,
    segments: store.segments,
    blobs: (space) => store.blobs(space),
    sealedAudits: store.sealedAudits,
    erasures: store.erasures,
    acceptTransition: (organizationId, plan, decide) =>
      observer.acceptance(async () => {
        let mark = performance.now();
        const phaseEnded = (phase: 'open' | 'decide' | 'commit') => {
          observer.phaseEnded(phase, mark);
          mark = performance.now();
        };
        let isWritten = false;
        const result = await store.acceptTransition(organizationId, plan, async (opened, acceptance) => {
          // A retry of the store counts as opening again, with the time that was lost.
          phaseEnded('open');
          const outcome = await decide(opened, acceptance);
          phaseEnded('decide');
          isWritten = outcome.write !== undefined;
          return outcome;
        });
        if (!isWritten) return result;
        // Whoever shares the transaction is decided meanwhile, too.
        phaseEnded('commit');
        return result;
      }),
    read: (organizationId, work) => store.read(organizationId, work),
    recordSnapshot: (organizationId, snapshot, admission) => store.recordSnapshot(organizationId, snapshot, admission),
    recordRenditions: (organizationId, made) => store.recordRenditions(organizationId, made),
    problems: () => store.problems(),
    close: () => store.close(),
  };
}

/** The loss of a record is told by the adapter's option, which knows the cause. */
function observedOrganizations(organizations: OrganizationStore, observer: StoreObserver): OrganizationStore {
  return {
    ...organizations,
    recordAudit: async (organizationId, entry) => {
      await organizations.recordAudit(organizationId, entry);
      observer.auditRecorded();
    },
  };
}
