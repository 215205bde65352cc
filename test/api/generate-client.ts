import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import openapiTS, { type OpenAPI3 } from 'openapi-typescript';
import { format, resolveConfig } from 'prettier';
import ts from 'typescript';
import { createApp } from '../../src/doors/app.ts';
import { openApiDocument } from '../../src/server/openapi.ts';
import { dataInAnswers, dataInRequests, isListOfItems } from '../../src/doors/client/case.ts';
import { toCamelCase } from '../../src/base/common/case.ts';
import type { Library } from '../../src/features/library/library.ts';
import { nouns } from '../../src/server/declared/nouns.ts';
import { asJson, forTypes } from './generate-types.ts';

/** The operations of `lanefold/client`, with their types. Written by `npm run types:api`. */
export const clientFile = path.resolve('src/doors/client/operations.ts');

/** What the client offers. Everything else, such as keys, is for operators. */
const offered = nouns.flatMap(({ operations, requests }) =>
  [...Object.values(operations), ...Object.values(requests)].filter(({ client }) => client).map(({ id }) => id),
);

/** Schemas whose `result` has the type of its agent. */
const generic = ['Run', 'RunSnapshot'];

interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  properties?: Record<string, Schema>;
  additionalProperties?: unknown;
  required?: string[];
  anyOf?: Schema[];
  allOf?: Schema[];
}
interface Operation {
  operationId: string;
  parameters?: { in: string; name: string; required?: boolean; description?: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}

/** The source of `src/doors/client/operations.ts`: the API's schemas in camelCase, and where each operation is. */
export async function clientOperations(): Promise<string> {
  // its routes need a library only when they are called
  const library = { queues: [], queueBackend: 'postgres' } as unknown as Library;
  const document = openApiDocument(createApp(library, { onError: () => {} })) as OpenAPI3;
  const { openapi, info, paths, components } = JSON.parse(JSON.stringify(document, forTypes)) as OpenAPI3;
  const schemas = components!.schemas as Record<string, Schema>;
  const operations = Object.entries(paths!).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, Operation>).map(([method, operation]) => ({ method, path, ...operation })),
  );
  const used = new Camel(schemas);
  used.add('Problem', { $ref: '#/components/schemas/Problem' }, dataInAnswers);
  const types: string[] = [];
  const places: string[] = [];
  for (const id of offered) {
    const operation = operations.find(({ operationId }) => operationId === id)!;
    const query = queryOf(operation);
    const sent = operation.requestBody?.content['application/json']!.schema;
    const answer = Object.entries(operation.responses)
      .filter(([status]) => status.startsWith('2'))
      .flatMap(([, { content }]) => content?.['application/json']?.schema ?? [])[0];
    const queryName = `${id[0]!.toUpperCase()}${id.slice(1)}Query`;
    const named = [
      `query: ${query ? used.add(queryName, query, dataInRequests) : 'undefined'}`,
      `body: ${sent ? used.add(`${id}Body`, sent, dataInRequests) : 'undefined'}`,
      `answer: ${answer ? used.add(`${id}Answer`, answer, dataInAnswers) : 'void'}`,
    ];
    types.push(`${id}: { ${named.join('; ')} };`);
    const template = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `{${toCamelCase(name)}}`);
    places.push(`${id}: '${operation.method.toUpperCase()} ${template}',`);
  }
  const declarations = await declare({ openapi, info, paths: {}, components: { schemas: used.schemas } } as OpenAPI3);
  const source = [
    '// Generated from the OpenAPI document: run `npm run types:api`.',
    'export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };',
    'export type JsonObject = { [key: string]: Json };',
    ...declarations,
    `/** What each operation takes and returns. */\nexport interface Operations {\n${types.join('\n')}\n}`,
    `/** Method and path of each operation. */\nexport const places = {\n${places.join('\n')}\n} as const;`,
  ].join('\n\n');
  return format(source, { ...(await resolveConfig(clientFile)), filepath: clientFile });
}

/** The query parameters of an operation as the schema of an object, with the values that callers give. */
function queryOf({ operationId, parameters = [] }: Operation): Schema | undefined {
  const given = parameters.filter(
    ({ in: place, name }) =>
      place === 'query' && !(operationId.endsWith('Events') && name !== 'after' && name !== 'limit'),
  );
  if (given.length === 0) return undefined;
  const properties = given.map(({ name, schema, description }) => [name, { ...valueOf(name, schema), description }]);
  const required = given.filter((parameter) => parameter.required).map(({ name }) => name);
  return { type: 'object', properties: Object.fromEntries(properties), required, additionalProperties: false };
}

/** The client writes booleans and objects as text. */
function valueOf(name: string, schema: Schema): Schema {
  if (String(schema.enum) === 'true,false') return { type: 'boolean' };
  if (name === 'policy') return { $ref: '#/components/schemas/ContextPolicy' };
  if (name === 'metadata') return { type: 'object', additionalProperties: true };
  return schema;
}

/** Collects the schemas that operations use, with the fields of the API in camelCase and data as it is. */
class Camel {
  readonly schemas: Record<string, Schema> = {};
  readonly #how = new Map<string, ReadonlySet<string> | 'data'>();

  constructor(readonly known: Record<string, Schema>) {}

  /** Adds a schema; returns the name of its type. */
  add(name: string, schema: Schema, data: ReadonlySet<string>): string {
    const ref = schema.$ref?.split('/').pop();
    if (ref !== undefined) return this.#named(ref, data);
    this.schemas[name] = this.#copy(schema, data) as Schema;
    return name;
  }

  #named(name: string, how: ReadonlySet<string> | 'data'): string {
    const before = this.#how.get(name);
    this.#how.set(name, how);
    const copy = this.#copy(this.known[name]!, how) as Schema;
    if (before !== undefined && before !== how && JSON.stringify(this.schemas[name]) !== JSON.stringify(copy))
      throw new Error(`${name} is both data and not: see src/doors/client/case.ts`);
    this.schemas[name] = copy;
    return name;
  }

  #copy(value: unknown, how: ReadonlySet<string> | 'data'): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#copy(item, how));
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, properties, required, ...rest } = value as Schema;
    if ($ref !== undefined) {
      const name = $ref.split('/').pop()!;
      if (this.#how.get(name) !== how) this.#named(name, how);
    }
    const nameOf = (name: string) => (how === 'data' ? name : toCamelCase(name));
    return {
      ...($ref === undefined ? {} : { $ref }),
      ...(Object.fromEntries(Object.entries(rest).map(([key, item]) => [key, this.#copy(item, how)])) as object),
      ...(properties && {
        properties: Object.fromEntries(
          Object.entries(properties).map(([name, item]) => [
            nameOf(name),
            this.#copy(item, this.#below(name, item, how)),
          ]),
        ),
      }),
      ...(required && { required: required.map(nameOf) }),
    };
  }

  #below(name: string, item: unknown, how: ReadonlySet<string> | 'data'): ReadonlySet<string> | 'data' {
    const items = isListOfItems(name, (item as Schema).type === 'array');
    if (how === 'data' || (how.has(name) && !items)) return 'data';
    if (isOpen(item as Schema)) throw new Error(`${name} has keys of any name: list it in src/doors/client/case.ts`);
    return how;
  }
}

/** Whether a schema allows objects with keys of any name. */
function isOpen({ type, properties, additionalProperties, $ref, anyOf = [], allOf = [], ...rest }: Schema): boolean {
  const { description: _, ...said } = rest as { description?: string };
  const any = type === undefined && $ref === undefined && anyOf.length + allOf.length === 0;
  if (any && !properties && Object.keys(said).length === 0) return true;
  return (
    (additionalProperties !== undefined && additionalProperties !== false) || [...anyOf, ...allOf].some(isNamedOpen)
  );
}

/** A description beside a reference is a schema, too. */
const isNamedOpen = (schema: Schema): boolean =>
  Object.keys(schema).some((key) => key !== 'description') && isOpen(schema);

/** One exported declaration for each schema of a document. */
async function declare(document: OpenAPI3): Promise<string[]> {
  const nodes = await openapiTS(document, { transform: asJson, silent: true });
  const components = nodes.find((node) => ts.isInterfaceDeclaration(node) && node.name.text === 'components');
  const [schemas] = (components as ts.InterfaceDeclaration).members;
  const { members } = (schemas as ts.PropertySignature).type as ts.TypeLiteralNode;
  const printer = ts.createPrinter();
  const file = ts.createSourceFile('all.ts', '', ts.ScriptTarget.Latest);
  return members.map((member) => {
    const { name, type } = member as ts.PropertySignature & { name: ts.Identifier };
    const comment =
      ts
        .getSyntheticLeadingComments(member)
        ?.map(({ text }) => asProse(`/*${text}*/\n`))
        .join('') ?? '';
    const text = asProse(printer.printNode(ts.EmitHint.Unspecified, type!, file)).replaceAll(
      /components\["schemas"\]\["(\w+)"\]/g,
      '$1',
    );
    const typed = generic.includes(name.text);
    const body = typed ? text.replace(/\bresult: Json;/, 'result: RESULT | null;') : text;
    const head = typed ? `${name.text}<RESULT = Json>` : name.text;
    return ts.isTypeLiteralNode(type!)
      ? `${comment}export interface ${head} ${body}`
      : `${comment}export type ${head} = ${body};`;
  });
}

/** Leaves the tags of JSDoc out, which repeat the type. */
const asProse = (text: string): string =>
  text
    .replaceAll(/^ *\/\*\* @enum \{[\w|]+\} \*\/\n/gm, '')
    .replaceAll(/\n *\* @enum \{[\w|]+\}/g, '')
    .replaceAll(/\n *\* Format: [\w-]+/g, '')
    .replaceAll(/\n *\* @?\w*:? ?discriminator enum .*/g, '')
    .replaceAll('@description ', '')
    .replaceAll(/^ *\/\*\*\s*\*\/\n/gm, '');

if (process.argv[1] === import.meta.filename) await writeFile(clientFile, await clientOperations());
