// A Signed Document inside a Command that was not believed: where it stands, and what it says of itself.
import type { SignedDocumentKind } from '../protocol/kinds.ts';
import type { DocumentNames, TrustFailure } from '../trust/outcome.ts';

export interface FailedDocument {
  /** In the payload: `evidence.0`. */
  path: string;
  kind: SignedDocumentKind;
  failure: TrustFailure;
  names: DocumentNames;
}
