// The structural part: each document is valid or not under the schema that its case names.

import { z } from 'zod';
import { checkDocument, isDocumentName } from '../../protocol/documents/catalogue.ts';
import { parseStrictJson } from '../../wire/strict-json.ts';
import { BundleFault, MANIFEST_OF_PART, type Bundle } from './bundle.ts';
import { emptyReport, expectedFound, record, type PartReport } from './report.ts';

const manifestShape = z.array(
  z.object({ name: z.string(), schema: z.string(), instance: z.string(), valid: z.boolean() }),
);

export function runStructural(bundle: Bundle): PartReport {
  const manifest = manifestShape.safeParse(bundle.readJson(MANIFEST_OF_PART.structural));
  if (!manifest.success) throw new BundleFault(`${MANIFEST_OF_PART.structural} has another shape`);
  const report = emptyReport();
  for (const entry of manifest.data) {
    const expected = entry.valid ? 'valid' : 'invalid';
    record(report, `structural ${entry.name}`, expectedFound(expected, judge(bundle, entry)));
  }
  return report;
}

function judge(bundle: Bundle, entry: { schema: string; instance: string }): string {
  const name = /^schemas\/(.+)\.schema\.json$/.exec(entry.schema)?.[1] ?? '';
  if (!isDocumentName(name)) return `no schema ${entry.schema}`;
  const json = parseStrictJson(bundle.read(entry.instance));
  if (!json.ok) return `no strict JSON (${json.fault})`;
  return checkDocument(name, json.value).valid ? 'valid' : 'invalid';
}
