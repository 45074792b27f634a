// When Evidence suffices (MWP-WRK-025a). A submission brings, for every criterion, passed Evidence of each type that its
// contract requires, and at least one piece where it requires none but a review: the Worker shows what it claims. The
// two reviewer types are not the Worker's to bring; they are demanded when the result is accepted, from the submission
// and the Coordinator's Evidence together, since a reviewer may have spoken at either time.
import { samePrincipal, type Principal } from '../protocol/principals.ts';
import { refuse, type Refusal } from '../protocol/refusals.ts';
import type { Criterion, EvidenceAggregate, EvidenceKind } from './aggregates.ts';

export type Statement = Pick<EvidenceAggregate, 'type' | 'criterionIds' | 'result' | 'generatedBy'>;

const REVIEWER_TYPES: readonly EvidenceKind[] = ['human_review', 'reviewer_assessment'];

export function checkSubmitted(statements: readonly Statement[], criteria: readonly Criterion<unknown>[]) {
  for (const { criterionId, evidenceRequired } of criteria) {
    const passed = passedFor(statements, criterionId);
    const demanded = evidenceRequired.filter((type) => !REVIEWER_TYPES.includes(type));
    const missing = demanded.find((type) => !passed.some((statement) => statement.type === type));
    if (missing !== undefined || passed.length === 0) {
      return refuse('INVALID_COMMAND', 'a criterion has no passed Evidence of a type that it requires', {
        details: { criterionId, ...(missing && { evidenceType: missing }) },
      });
    }
  }
  return undefined;
}

export function checkReviewed(
  statements: readonly Statement[],
  criteria: readonly Criterion<unknown>[],
  worker: Principal,
): Refusal | undefined {
  for (const { criterionId, evidenceRequired } of criteria) {
    const reviews = passedFor(statements, criterionId).filter((statement) => isReview(statement, worker));
    const missing = evidenceRequired
      .filter((type) => REVIEWER_TYPES.includes(type))
      .find((type) => !reviews.some((statement) => statement.type === type));
    if (missing === undefined) continue;
    return refuse('INVALID_COMMAND', 'a criterion lacks the review that it requires', {
      details: { criterionId, evidenceType: missing },
    });
  }
  return undefined;
}

/** MWP-MSN-006b: a Coordinator is never the only reviewer of its own output. */
export function checkIndependent(
  statements: readonly Statement[],
  worker: Principal,
  coordinator: Principal,
): Refusal | undefined {
  if (!samePrincipal(worker, coordinator)) return undefined;
  if (statements.some((statement) => statement.result === 'passed' && isReview(statement, worker))) return undefined;
  return refuse('AUTH_FORBIDDEN', 'the Coordinator needs the review of somebody else for its own work');
}

function passedFor(statements: readonly Statement[], criterionId: string): Statement[] {
  return statements.filter(({ result, criterionIds }) => result === 'passed' && criterionIds.includes(criterionId));
}

/** Nobody reviews their own work, and a human review is by a human. */
function isReview({ type, generatedBy }: Statement, worker: Principal): boolean {
  if (samePrincipal(generatedBy, worker)) return false;
  return type === 'human_review' ? generatedBy.type === 'human' : type === 'reviewer_assessment';
}
