// The structural part: each document is valid or not under the schema that its case names.

import { checkDocument, isDocumentName } from '../../protocol/documents/catalogue.ts';
import { parseStrictJson } from '../../wire/strict-json.ts';
import type { CheckedFiles } from './integrity.ts';
import type { StructuralManifest } from './manifests.ts';
import { emptyReport, evaluate, expectedFound, type PartReport } from './report.ts';

export async function runStructural(files: CheckedFiles, manifest: StructuralManifest): Promise<PartReport> {
  const report = emptyReport();
  for (const entry of manifest) {
    const expected = entry.valid ? 'valid' : 'invalid';
    await evaluate(report, `structural ${entry.name}`, () => expectedFound(expected, judge(files, entry)));
  }
  return report;
}

function judge(files: CheckedFiles, entry: { schema: string; instance: string }): string {
  const name = /^schemas\/(.+)\.schema\.json$/.exec(entry.schema)?.[1] ?? '';
  if (!isDocumentName(name)) return `no schema ${entry.schema}`;
  const json = parseStrictJson(files.read(entry.instance));
  if (!json.ok) return `no strict JSON (${json.fault})`;
  return checkDocument(name, json.value).valid ? 'valid' : 'invalid';
}
