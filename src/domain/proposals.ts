// A Work Proposal and the authorization that takes it up must say the same (commands.md 1.19).
import { refuse, type Refusal } from '../protocol/refusals.ts';
import type { WorkContract } from './aggregates.ts';
import { mapContractTexts, textOr } from './contract-texts.ts';
import type { DecisionContext } from './decider.ts';
import type { View } from './view.ts';

/**
 * The texts are compared as texts. State holds no hash of them, since a hash without salt would let a short text be
 * guessed after its erasure; a proposal whose text was erased can therefore not be taken up any more.
 */
export function checkProposal(
  { proposalId, parentWorkItemId }: { proposalId?: string | undefined; parentWorkItemId?: string | undefined },
  contract: WorkContract<string>,
  groupId: string,
  view: View,
  { hash, textOf }: Pick<DecisionContext, 'hash' | 'textOf'>,
): Refusal | undefined {
  if (proposalId === undefined) return undefined;
  const proposal = view.get('work_proposal', proposalId);
  if (proposal?.groupId !== groupId) return refuse('INVALID_COMMAND', 'no such proposal in this Group');
  if (proposal.state !== 'open') {
    return refuse('INVALID_STATE_TRANSITION', 'the proposal was authorized before');
  }
  const proposed = mapContractTexts(proposal.contract, textOr(textOf));
  if (proposal.parentWorkItemId === parentWorkItemId && hash(proposed) === hash(contract)) return undefined;
  return refuse('REVISION_CONFLICT', 'the proposal has another contract or parent');
}
