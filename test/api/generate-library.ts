import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';
import { z } from 'zod';
import { toCamelCase, toSnakeCase } from '../../src/base/common/case.ts';
import {
  argumentsOf,
  optionsOf,
  type Argument,
  type Noun,
  type Operation,
} from '../../src/base/operations/operation.ts';
import { describedBy, Id, typeOf } from '../../src/base/operations/schemas.ts';

/** Declarations of operations; beside each are its types, written by `npm run types:api`. */
const declarations = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => path.basename(file) === 'declaration.ts')
  .map((file) => path.join('src', file))
  .sort();

/** The source of the types beside each declaration, by their file. */
export async function libraryTypes(): Promise<Map<string, string>> {
  const modules = await Promise.all(
    declarations.map(async (file) => ({
      target: path.resolve(path.dirname(file), 'types.ts'),
      exported: (await import(path.resolve(file))) as Record<string, unknown>,
    })),
  );
  for (const { exported } of modules) for (const value of Object.values(exported)) learnNames(value);
  const owners = new Map<unknown, Owner>();
  for (const { target, exported } of modules)
    for (const [name, value] of Object.entries(exported).sort(([a], [b]) => (a < b ? -1 : 1)))
      if (value instanceof z.ZodType) owners.set(value, { name, target });
  const sources = modules.map(async ({ target, exported }) => {
    const source = new Types(target, exported, owners).source();
    return [target, await format(source, { ...(await resolveConfig(target)), filepath: target })] as const;
  });
  return new Map(await Promise.all(sources));
}

/** The name of a schema's type, and the file that has it. */
interface Owner {
  name: string;
  target: string;
}

type Schema = z.core.$ZodTypes;

/** The types of one declaration. */
class Types {
  readonly #own: [string, z.ZodType][] = [];
  readonly #imports = new Map<string, string>();
  readonly #nouns: Noun[] = [];

  constructor(
    readonly target: string,
    exported: Record<string, unknown>,
    readonly owners: ReadonlyMap<unknown, Owner>,
  ) {
    for (const [name, value] of Object.entries(exported).sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (value instanceof z.ZodType && !typeOf(value)) this.#own.push([name, value]);
      else if (isNoun(value)) this.#nouns.push(value);
    }
  }

  source(): string {
    const named = this.#own.map(([name, schema]) => this.#declare(name, schema as unknown as Schema));
    const nouns = this.#nouns
      .filter(({ operations }) => Object.values(operations).some(({ byHand }) => !byHand))
      .map((noun) => this.#interface(noun));
    const imports = [...this.#imports]
      .filter(([, from]) => from !== this.target)
      .map(([name, from]) => {
        const relative = path.relative(path.dirname(this.target), from);
        return `import type { ${name} } from '${relative.startsWith('.') ? relative : `./${relative}`}';`;
      });
    const head = '// Generated from declaration.ts beside it: run `npm run types:api`.';
    return [head, imports.join('\n'), ...named, ...nouns].filter(Boolean).join('\n\n');
  }

  #declare(name: string, schema: Schema): string {
    const { def } = schema._zod;
    const doc = comment(docOf(schema));
    return def.type === 'object'
      ? `${doc}export interface ${name} ${this.#object(def.shape)}`
      : `${doc}export type ${name} = ${this.#print(schema)};`;
  }

  /** The methods of a noun. Without those written by hand, it is not all of them. */
  #interface({ part, operations }: Noun): string {
    const declared = Object.entries(operations).filter(([, { byHand }]) => !byHand);
    const methods = declared.map(([name, operation]) => this.#method(name, operation));
    const whole = part !== 'library' && declared.length === Object.keys(operations).length;
    const name = `${whole ? '' : 'Declared'}${part[0]!.toUpperCase()}${part.slice(1)}`;
    return `export interface ${name} {\n${methods.join('\n')}\n}`;
  }

  #method(name: string, operation: Operation): string {
    const { answer, summary, description, doc, errors = [] } = operation;
    const args = argumentsOf(operation).map((argument) => this.#argument(argument, operation));
    const thrown = errors.length > 0 ? `@throws LanefoldError ${errors.map((code) => `\`${code}\``).join(', ')}` : '';
    const text = doc ?? inLibrary([`${summary}.`, description].filter(Boolean).join(' '));
    const result = operation.returns ?? answer.schema;
    const of = operation.result ? '<RESULT>' : '';
    const returned = result ? `${this.#type(result)}${of}${isOptional(result) ? ' | undefined' : ''}` : 'void';
    const head = comment([text, thrown].filter(Boolean).join('\n\n'));
    return `${head}${name}${of}(${args.join(', ')}): Promise<${returned}>;`;
  }

  #argument(argument: Argument, { orThread, result }: Operation): string {
    switch (argument.kind) {
      case 'run': {
        const ref = this.#import('RunRef', path.resolve('src/database/store/run/run-ref.ts'));
        return `run: ${ref}${result ? '<RESULT>' : ''}${orThread ? ' | string' : ''}`;
      }
      case 'param':
        return `${argument.name}: string`;
      case 'options': {
        const needed = Object.values(argument.fields).some((schema) => !isOptional(schema));
        return `options${needed ? '' : '?'}: ${this.#object(argument.fields)}`;
      }
      default:
        return `${argument.name}${isOptional(argument.schema) ? '?' : ''}: ${this.#type(argument.schema)}`;
    }
  }

  /** @param name of a type in the module, or of a field of such a type: `Allowed['scopes']` */
  #import(name: string, from: string): string {
    this.#imports.set(/^\w+/.exec(name)![0], from);
    return name;
  }

  #object(shape: Readonly<Record<string, z.core.$ZodType>>): string {
    const fields = Object.entries(shape).map(([name, field]) => {
      const optional = isOptional(field);
      return `${comment(docOf(field))}${name}${optional ? '?' : ''}: ${this.#type(field)};`;
    });
    return `{\n${fields.join('\n')}\n}`;
  }

  /** The name of a type, or the type. */
  #type(schema: z.core.$ZodType): string {
    const own = typeOf(schema);
    if (own) return own.from === undefined ? own.name : this.#import(own.name, path.resolve('src', own.from));
    const owner = this.owners.get(schema) ?? this.owners.get(describedBy(schema));
    return owner ? this.#import(owner.name, owner.target) : this.#print(schema as Schema);
  }

  #print(schema: Schema): string {
    const { def } = schema._zod;
    switch (def.type) {
      case 'object':
        return this.#object(def.shape);
      case 'array':
        return /[ |{]/.test(this.#type(def.element))
          ? `(${this.#type(def.element)})[]`
          : `${this.#type(def.element)}[]`;
      case 'record':
        return `Record<string, ${this.#type(def.valueType)}>`;
      case 'union':
        return def.options.map((option) => this.#type(option)).join(' | ');
      case 'optional':
        return this.#type(def.innerType);
      case 'nullable':
        return `${this.#type(def.innerType)} | null`;
      case 'enum':
        return Object.values(def.entries)
          .map((value) => JSON.stringify(value))
          .join(' | ');
      case 'literal':
        return def.values.map((value) => JSON.stringify(value)).join(' | ');
      case 'date':
        return 'Date';
      case 'string':
      case 'number':
      case 'boolean':
      case 'null':
        return def.type;
      case 'any':
      case 'unknown':
        return 'unknown';
      default:
        throw new Error(`a ${def.type} has no type yet`);
    }
  }
}

const isNoun = (value: unknown): value is Noun =>
  typeof value === 'object' && value !== null && 'operations' in value && 'part' in value;

const isOptional = (schema: z.core.$ZodType): boolean => (schema as Schema)._zod.def.type === 'optional';

/** Fields of declared schemas, as the API names them. */
const fieldNames = new Set<string>();
const seen = new Set<object>();

function learnNames(value: unknown): void {
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  seen.add(value);
  if (value instanceof z.ZodObject) for (const name of Object.keys(value.shape)) fieldNames.add(toSnakeCase(name));
  const inner =
    value instanceof z.ZodType ? Object.values((value as unknown as Schema)._zod.def) : Object.values(value);
  for (const one of inner) learnNames(one);
  if (isNoun(value))
    for (const operation of Object.values(value.operations))
      for (const name of Object.keys(optionsOf(operation))) fieldNames.add(toSnakeCase(name));
}

/** Values, and keys of data, that are spelled as a field is. */
const notFields = new Set(['estimated_tokens', 'max_iterations', 'over_budget']);

/** Descriptions are written for the API: the library has other names for the same fields. */
const inLibrary = (text: string): string =>
  text.replaceAll(/`([a-z]+(?:_[a-z]+)+)(?=[`:])/g, (all, name: string) =>
    fieldNames.has(name) && !notFields.has(name) ? `\`${toCamelCase(name)}` : all,
  );

/** What people read about a schema: its `doc`, else its description. */
function docOf(schema: z.core.$ZodType): string | undefined {
  if (schema === (Id as unknown)) return undefined;
  const { doc, description } = ((schema as z.ZodType).meta() ?? {}) as { doc?: string; description?: string };
  if (doc !== undefined || description !== undefined) return doc ?? inLibrary(description!);
  const { def } = (schema as Schema)._zod;
  if (def.type === 'union') return docOf(def.options[0]!);
  return def.type === 'optional' || def.type === 'nullable' ? docOf(def.innerType) : undefined;
}

const comment = (text: string | undefined): string =>
  text && text.length < 110 && !text.includes('\n')
    ? `/** ${text} */\n`
    : text
      ? `/**\n${text
          .split('\n')
          .flatMap(wrapped)
          .map((line) => ` *${line && ` ${line}`}`)
          .join('\n')}\n */\n`
      : '';

/** Lines of at most 110 characters. */
function wrapped(text: string): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!;
    if (line.length + word.length > 110) lines.push(word);
    else lines[lines.length - 1] = line ? `${line} ${word}` : word;
  }
  return lines;
}

if (process.argv[1] === import.meta.filename)
  for (const [file, source] of await libraryTypes()) await writeFile(file, source);
