// Rows past the store, for both engines: literals, lists in portions, and numbers that come as text.
import type { Behind } from '../../contract/behind.ts';

/** Values in one list: what a statement of either engine takes without a murmur. */
const PORTION = 300;
/** These columns are numbers; PostgreSQL's driver gives wide ones as text. */
const NUMBERS = [
  ...['position', 'revision', 'policy_position', 'aggregate_revision', 'count', 'version', 'id_count'],
  ...['first_sequence', 'last_sequence', 'first_revision', 'last_revision', 'size'],
];

export type SqlRow = Record<string, unknown>;

export async function rowsOf<Row = SqlRow>(behind: Behind, text: string): Promise<Row[]> {
  const rows = await behind.query(text);
  return rows.map((row) => {
    for (const column of NUMBERS) if (typeof row[column] === 'string') row[column] = Number(row[column]);
    return row as Row;
  });
}

/** `text` holds `$list` where the list goes, parentheses included. */
export async function rowsIn<Row = SqlRow>(behind: Behind, text: string, values: readonly string[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (let from = 0; from < values.length; from += PORTION) {
    const list = values.slice(from, from + PORTION).join(', ');
    rows.push(...(await rowsOf<Row>(behind, text.replace('$list', `(${list})`))));
  }
  return rows;
}

export function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

export function countBy<Item>(items: readonly Item[], key: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const name = key(item);
    const group = groups.get(name);
    if (group) group.push(item);
    else groups.set(name, [item]);
  }
  return groups;
}
