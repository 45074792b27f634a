// Why a document was not believed. For the protected audit record only (MWP-SDV-018): it is a class with private
// members, so that no type of the wire accepts it (GDE-11), and it prints itself as nothing.

export type TrustStage =
  'parse' | 'schema' | 'signature-envelope' | 'key-resolution' | 'canonicalization' | 'signature' | 'admission';

export class ProtectedDiagnostic {
  readonly #stage: TrustStage;
  readonly #reason: string;

  constructor(stage: TrustStage, reason: string) {
    this.#stage = stage;
    this.#reason = reason;
  }

  /** The only way out. The caller is the writer of the protected audit record. */
  forAudit(): { readonly stage: TrustStage; readonly reason: string } {
    return { stage: this.#stage, reason: this.#reason };
  }

  toJSON(): string {
    return '[protected]';
  }

  toString(): string {
    return '[protected]';
  }
}
