// Bodies of stored Events leave through one seam, src/delivery/rendered.ts, or what is withheld would leak by another way. Asked
// of the compiler, so that no name and no destructuring hides one.
import { relative, resolve } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const SEAM = 'src/delivery/rendered.ts';
/** Who may look at a stored body without handing it out, and for what. */
const MAY_READ: Record<string, string> = {
  [SEAM]: 'hands it out',
  'src/delivery/renditions.ts': 'makes the rendition of it',
  'src/delivery/replay.ts': 'counts its bytes',
};

interface Use {
  file: string;
  what: string;
}

/** Of files that serve clients, and of `planted` in place of one of them. */
function uses(planted?: { file: string; text: string }): Use[] {
  const { config } = ts.readConfigFile(resolve(ROOT, 'tsconfig.json'), (name) => ts.sys.readFile(name)) as {
    config: object;
  };
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const sources = fileNames.filter((name) => /^src\/(http|authority|delivery|gateway)\//.test(relative(ROOT, name)));
  const host = ts.createCompilerHost(options);
  const readFile = host.readFile.bind(host);
  host.readFile = (name) => (planted && relative(ROOT, name) === planted.file ? planted.text : readFile(name));
  const program = ts.createProgram(sources, options, host);
  const checker = program.getTypeChecker();
  const found: Use[] = [];
  for (const source of program.getSourceFiles()) {
    const file = relative(ROOT, source.fileName);
    if (!sources.includes(source.fileName)) continue;
    const visit = (node: ts.Node): void => {
      if (isBodyOfAnEvent(node, checker)) found.push({ file, what: 'the body of an EventRow' });
      if (ts.isAsExpression(node) && /\bDeliveredBody\b/.test(node.type.getText(source)))
        found.push({ file, what: 'as DeliveredBody' });
      if (ts.isCallExpression(node) && node.expression.getText(source) === 'freshlyAccepted')
        found.push({ file, what: 'freshlyAccepted' });
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return found;
}

function isBodyOfAnEvent(node: ts.Node, checker: ts.TypeChecker): boolean {
  if (ts.isPropertyAccessExpression(node) && node.name.text === 'body')
    return isOfEventRow(checker.getSymbolAtLocation(node.name));
  if (ts.isBindingElement(node) && ts.isObjectBindingPattern(node.parent)) {
    const name = node.propertyName ?? node.name;
    if (!ts.isIdentifier(name) || name.text !== 'body') return false;
    return isOfEventRow(checker.getTypeAtLocation(node.parent).getProperty('body'));
  }
  return false;
}

function isOfEventRow(symbol: ts.Symbol | undefined): boolean {
  return (symbol?.declarations ?? []).some(
    ({ parent }) => ts.isInterfaceDeclaration(parent) && parent.name.text === 'EventRow',
  );
}

describe('bodies of stored Events', () => {
  it(
    'MWP-MSN-023: are read by the seam and who prepares for it, and called deliverable nowhere else',
    { timeout: 60_000 },
    () => {
      const found = uses();
      const readers = found.filter(({ what }) => what === 'the body of an EventRow').map(({ file }) => file);
      expect([...new Set(readers)].toSorted()).toEqual(Object.keys(MAY_READ).toSorted());
      const casts = found.filter(({ what }) => what === 'as DeliveredBody').map(({ file }) => file);
      expect([...new Set(casts)]).toEqual([SEAM]);
      // Of Events that were signed in this very transaction.
      const fresh = found.filter(({ what }) => what === 'freshlyAccepted').map(({ file }) => file);
      expect(fresh).toEqual(['src/authority/decide-under-locks.ts']);
    },
  );

  it('a way around is found, plain and destructured', { timeout: 60_000 }, () => {
    const file = 'src/authority/queries/receipts.ts';
    const text = `import type { EventRow } from '../../store/port.ts';
      import type { DeliveredBody } from '../../delivery/rendered.ts';
      export const a = (row: EventRow) => row.body as DeliveredBody;
      export const b = (rows: EventRow[]) => rows.map(({ body: words }) => words);`;
    expect(uses({ file, text }).filter((use) => use.file === file)).toEqual([
      { file, what: 'as DeliveredBody' },
      { file, what: 'the body of an EventRow' },
      { file, what: 'the body of an EventRow' },
    ]);
  });
});
