// The snapshots of one Group in their order, each with the record that admitted it, as a store holds them.
import type { AdmissionRow, Reader, SnapshotRow } from '../../store/port.ts';

export interface RecordedSnapshot {
  row: SnapshotRow;
  /** Absent: the record is missing. */
  admission: AdmissionRow | undefined;
}

/** Rows held: a body may have some MB. */
const PAGE = 5;

export class StoredSnapshots {
  private readonly groupId: string;
  private readonly reader: Pick<Reader, 'snapshots' | 'admission'>;
  private waiting: SnapshotRow[] = [];
  private read = 0;
  private isRead = false;

  constructor(groupId: string, reader: Pick<Reader, 'snapshots' | 'admission'>) {
    this.groupId = groupId;
    this.reader = reader;
  }

  /** Each once, in all calls together: those of this sequence and below. */
  async *through(sequence: number): AsyncGenerator<RecordedSnapshot> {
    for (;;) {
      const row = await this.first();
      if (!row || row.throughSequence > sequence) return;
      this.waiting.shift();
      yield { row, admission: await this.reader.admission(row.signingHash) };
    }
  }

  private async first(): Promise<SnapshotRow | undefined> {
    if (this.waiting.length === 0 && !this.isRead) {
      this.waiting = await this.reader.snapshots(this.groupId, this.read, PAGE);
      this.isRead = this.waiting.length < PAGE;
      this.read = this.waiting.at(-1)?.position ?? this.read;
    }
    return this.waiting[0];
  }
}
