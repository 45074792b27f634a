// Where free text stands in a Work Contract and in reported progress. State holds commitments there, Commands and Events
// hold texts; one mapping serves to list, restore and compare them, so that no place is forgotten.
import type { Committed, WorkContract, WorkProgress } from './aggregates.ts';

/** Paths of the texts of a contract that stands in an Event's payload at `prefix`. */
export function contractTextPaths(prefix: string): string[] {
  return ['goal', 'requiredDeliverables.*.description', 'acceptanceCriteria.*.description', 'businessImpact'].map(
    (path) => `${prefix}.${path}`,
  );
}

export function progressTextPaths(prefix: string): string[] {
  return ['currentPhase', 'completedMilestones.*', 'nextCheckpoint', 'blockers.*'].map((path) => `${prefix}.${path}`);
}

export function mapContractTexts<A, B>(contract: WorkContract<A>, map: (text: A) => B): WorkContract<B> {
  return {
    ...contract,
    goal: map(contract.goal),
    requiredDeliverables: contract.requiredDeliverables.map((deliverable) => ({
      ...deliverable,
      description: map(deliverable.description),
    })),
    acceptanceCriteria: contract.acceptanceCriteria.map((criterion) => ({
      ...criterion,
      description: map(criterion.description),
    })),
    businessImpact: map(contract.businessImpact),
  };
}

export function mapProgressTexts<A, B>(progress: WorkProgress<A>, map: (text: A) => B): WorkProgress<B> {
  return {
    ...progress,
    currentPhase: map(progress.currentPhase),
    completedMilestones: progress.completedMilestones.map(map),
    nextCheckpoint: map(progress.nextCheckpoint),
    blockers: progress.blockers.map(map),
  };
}

export function contractCommitments(contract: WorkContract<Committed>): string[] {
  const found: string[] = [];
  mapContractTexts(contract, ({ commitment }) => found.push(commitment));
  return found;
}

export function progressCommitments(progress: WorkProgress<Committed>): string[] {
  const found: string[] = [];
  mapProgressTexts(progress, ({ commitment }) => found.push(commitment));
  return found;
}

/** A text where it still exists; the commitment itself where it was erased, which shows the reader that it was. */
export function textOr(textOf: (commitment: string) => unknown): (committed: Committed) => string {
  return (committed) => (textOf(committed.commitment) ?? committed) as string;
}
