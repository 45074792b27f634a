// Pages of what a reader may see of one kind of aggregate. Who may see what is asked of the caller: queries never judge.
import type { AggregateKind, Aggregates, WorkItemAggregate } from '../../domain/aggregates.ts';
import { one } from '../../domain/reads.ts';
import type { PageRequest, Reader } from '../../store/port.ts';

/** Bytes of shown items in one answer; at least one always fits. */
const PAGE_BYTES_MAXIMUM = 8 * 1_024 * 1_024;
/** Items whose texts are fetched together: with the largest Messages still about that bound in memory. */
const SHOWN_AT_ONCE = 25;

/** Rows of one read when the first of them did not fill the page. */
const ROWS_AT_ONCE = 200;
/** Rows looked at for one page. */
const ROWS_MAXIMUM = 2_000;

export interface PageWindow {
  /** Ids strictly after this one. */
  after?: string;
  limit: number;
}

export interface Page {
  /** JSON texts. */
  items: string[];
  /** What to ask after next; absent: this was the end. */
  next?: string;
}

export interface VisiblePage<K extends AggregateKind> {
  where: Omit<PageRequest, 'kind' | 'afterId' | 'limit'> & { kind: K };
  window: PageWindow;
  /** The WorkItem that the rule wants to look at, too. Absent: it needs none. */
  workItemIdOf?: (document: Aggregates[K]) => string | undefined;
  /** False: this reader's rule asks for no WorkItem, so none is loaded. */
  loadWorkItems?: boolean;
  sees: (document: Aggregates[K], workItem: WorkItemAggregate | undefined) => boolean;
  /** As the reader gets it, one for one. */
  show: (documents: Aggregates[K][]) => Promise<unknown[]>;
}

/**
 * Goes on past what the reader may not see until one item more than `limit` is found, so that `next` is there only when a
 * further item is, and names one that was shown: neither the ids nor the number of hidden ones can be read from cursors.
 * Only who sees nothing among ROWS_MAXIMUM rows is led past them by the id of the last.
 */
export async function visiblePage<K extends AggregateKind>(reader: Reader, query: VisiblePage<K>): Promise<Page> {
  const { limit, after } = query.window;
  const visible: Row<Aggregates[K]>[] = [];
  let end = after;
  for (let looked = 0; looked < ROWS_MAXIMUM;) {
    const size = looked === 0 ? limit + 1 : ROWS_AT_ONCE;
    const rows = await rowsAfter(reader, query, end, size);
    looked += rows.length;
    const workItems = await workItemsOf(reader, rows, query.loadWorkItems ? query.workItemIdOf : undefined);
    visible.push(...rows.filter(({ document }) => query.sees(document, workItems(document))));
    if (visible.length > limit) return boundedPage(visible.slice(0, limit), query.show, visible[limit - 1]?.id);
    if (rows.length < size) return boundedPage(visible, query.show, undefined);
    end = rows.at(-1)?.id;
  }
  return boundedPage(visible, query.show, visible.at(-1)?.id ?? end);
}

interface Row<Document> {
  id: string;
  document: Document;
}

async function rowsAfter<K extends AggregateKind>(
  reader: Reader,
  { where }: VisiblePage<K>,
  afterId: string | undefined,
  limit: number,
): Promise<Row<Aggregates[K]>[]> {
  const rows = await reader.page({ ...where, ...(afterId !== undefined && { afterId }), limit });
  return rows.map(({ id, document }) => ({ id, document: document as Aggregates[K] }));
}

async function boundedPage<Document>(
  visible: Row<Document>[],
  show: (documents: Document[]) => Promise<unknown[]>,
  end: string | undefined,
): Promise<Page> {
  const items: string[] = [];
  let bytes = 0;
  for (let start = 0; start < visible.length; start += SHOWN_AT_ONCE) {
    const chunk = visible.slice(start, start + SHOWN_AT_ONCE);
    for (const shown of await show(chunk.map(({ document }) => document))) {
      const text = JSON.stringify(shown);
      bytes += text.length;
      const last = visible[items.length - 1];
      if (bytes > PAGE_BYTES_MAXIMUM && last) return { items, next: last.id };
      items.push(text);
    }
  }
  return end === undefined ? { items } : { items, next: end };
}

async function workItemsOf<K extends AggregateKind>(
  reader: Reader,
  rows: { document: Aggregates[K] }[],
  workItemIdOf: VisiblePage<K>['workItemIdOf'],
): Promise<(document: Aggregates[K]) => WorkItemAggregate | undefined> {
  if (!workItemIdOf) return () => undefined;
  const ids = new Set(rows.map(({ document }) => workItemIdOf(document)).filter((id) => id !== undefined));
  if (ids.size === 0) return () => undefined;
  const { aggregates } = await reader.load([...ids].map((id) => one('work_item', id)));
  const byId = new Map(aggregates.map(({ id, document }) => [id, document as WorkItemAggregate]));
  return (document) => byId.get(workItemIdOf(document) ?? '');
}
