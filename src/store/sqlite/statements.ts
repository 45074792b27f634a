// Every SQL text that the local store sends, by name. SQLite has no row-level security, so the text itself must bind the
// Organization: `?1` always is the tenant, and a statement that does not use it cannot be registered as a tenant's.

export interface TenantStatement {
  readonly name: string;
  readonly text: string;
}

/** One of the few reads that cross tenants. A type of its own, so that it is never run by accident. */
export interface CrossTenantStatement {
  readonly crossTenantName: string;
  readonly text: string;
}

export const TENANT_STATEMENTS: TenantStatement[] = [];
export const CROSS_TENANT_STATEMENTS: CrossTenantStatement[] = [];

const BINDS_TENANT = /\borganization_id = \?1\b|^INSERT INTO \w+ \(organization_id, [^)]*\) VALUES \(\?1,/;

export function bindsTenant(text: string): boolean {
  return BINDS_TENANT.test(text);
}

export function tenantStatement(name: string, text: string): TenantStatement {
  if (!bindsTenant(text)) throw new Error(`${name} does not bind the Organization`);
  const statement = { name, text };
  TENANT_STATEMENTS.push(statement);
  return statement;
}

export function crossTenantStatement(name: string, text: string): CrossTenantStatement {
  const statement = { crossTenantName: name, text };
  CROSS_TENANT_STATEMENTS.push(statement);
  return statement;
}

/** `INSERT` of one row; the values follow the tenant in the order of `columns`. */
export interface InsertStatement extends TenantStatement {
  readonly columns: readonly string[];
}

export function insertStatement(table: string, columns: readonly string[], suffix = ''): InsertStatement {
  const values = columns.map((_, position) => `?${position + 2}`);
  const text = `INSERT INTO ${table} (organization_id, ${columns.join(', ')}) VALUES (?1, ${values.join(', ')})`;
  return { ...tenantStatement(`insert ${table}`, suffix === '' ? text : `${text} ${suffix}`), columns };
}
