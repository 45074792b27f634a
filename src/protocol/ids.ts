// Identifiers are compared byte by byte (MWP-FND-008c). The two that a wrong argument order would mix up are branded.

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** The tenant: an absolute URI. Every store call begins with it. */
export type OrganizationId = Branded<'Organization'>;
/** A Mission Group: one ordered Event sequence. */
export type GroupId = Branded<'Group'>;
