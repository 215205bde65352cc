import type { z } from 'zod';
import type { Principal, Scope } from '../access/principal.ts';
import { toCamelCase } from '../common/case.ts';
import type { ErrorCode } from '../errors.ts';

export type Fields = Record<string, z.ZodType>;

/** The functions of the database whose calls can be audited. */
export type ActingFunction =
  | 'apply_operation'
  | 'branch'
  | 'cancel_run'
  | 'change_config'
  | 'create_fork'
  | 'decide_tool_call'
  | 'delete_stream'
  | 'end_wait'
  | 'enqueue_run'
  | 'erase_conversation'
  | 'erase_schedules'
  | 'import_thread';

/**
 * An operation of the library and of the HTTP API. From its declaration come the method's type and checks, the route, the
 * OpenAPI document, what a key may do, and the flags of a command. A method takes `(...params, body?, options?)`.
 */
export interface Operation {
  /** Its `operationId`. */
  id: string;
  /**
   * Method and path, such as `PUT /v1/webhooks/{name}`. The parameters are the first arguments of the method. Without a route,
   * only the library and the command line have the operation, and `params` are its first arguments.
   */
  route?: `${'GET' | 'PUT' | 'POST' | 'DELETE' | 'PATCH'} /v1/${string}`;
  /** The scope that a key needs; default `admin`, so that forgetting it never grants access. */
  scope?: Scope;
  /**
   * An operation whose path names no thread concerns all threads and is closed to keys bound to some threads or agents.
   * `nothing`: except that this one shows nothing of any thread. `across`: it names a thread and shows others too.
   */
  about?: 'nothing' | 'across';
  /** It spans all tenants: also closed to keys bound to a tenant. */
  everywhere?: true;
  /** It writes, and shows the conversation of its thread too: it is audited as a read as well. */
  shows?: true;
  /**
   * It is audited by the function of the database that carries it out, which writes the row; `here`: no function does, and the
   * row is written before the answer. Operations whose functions write their rows themselves, such as those on webhooks, say
   * nothing.
   */
  audit?: ActingFunction | readonly ActingFunction[] | 'here';
  /** Its group in the API reference; default: that of its noun. */
  tag?: string;
  summary: string;
  description?: string;
  /** What the library says of its method, if not the same. */
  doc?: string;
  /** Parameters of the path that are not just ids; without a path, all of them. */
  params?: Fields;
  query?: Fields;
  /** Headers of the request beside `Idempotency-Key`, as HTTP spells them; for its handler. */
  headers?: Fields;
  /** The body: an argument of the method before its options, or with `bodyIs: 'options'` more options. */
  body?: z.ZodType;
  bodyIs?: 'options';
  /** What the method calls its body; default `definition`. */
  bodyName?: string;
  /** What the method takes before its options, in this order: fields of a body of options or of the query, and parameters. */
  positional?: readonly string[];
  /** The field of the body that a request may send as `Idempotency-Key` instead. */
  idempotencyKey?: string;
  /** Options that the library takes and no request sets, such as who acts. */
  own?: Fields;
  /** Its run may also be named by its thread: the active one. */
  orThread?: true;
  /** The type of what it returns has the type of its run's result. */
  result?: true;
  /** What it answers with; without a schema 204, and a list as the `data` of an object. */
  answer: Answer;
  /** What its method returns, if its handler answers with something else. */
  returns?: z.ZodType;
  /** `lanefold/client` offers it; other operations are for operators. */
  client?: true;
  /** The type and the checks of its method are written by hand, because no schema has them: it is generic, or iterates. */
  byHand?: true;
  /** Errors beside those of every operation. */
  errors?: readonly ErrorCode[];
  /** What a caller sees of an answer. */
  show?: (answer: never, principal: Principal) => unknown;
}

interface Answer {
  status?: 200 | 201 | 202;
  description: string;
  schema?: z.ZodType;
  /** Headers, as HTTP spells them; its handler sets them. */
  headers?: Fields;
  /** It says with `Idempotent-Replayed` that it is the answer to an earlier request, which is `duplicate`. */
  replays?: true;
  /** Answers of other types of content, by their media type. */
  content?: Readonly<Record<string, { schema: z.ZodType }>>;
  /** Other successful answers, by their status; its handler gives them. */
  also?: Readonly<Record<number, Omit<Answer, 'status' | 'content' | 'also'>>>;
}

/** The operations on one thing, under the names of their methods. */
export interface Noun<Part extends string = string, Name extends string = string> {
  /** Where the library has them; `library`: beside its parts. */
  part: Part;
  /** Their group in the API reference. */
  tag: string;
  operations: Record<Name, Operation>;
  /** Operations of the API without a method of their own: each has a handler. */
  requests: Record<string, Operation>;
}

/** Declares the operations on one thing. `npm run types:api` writes their types, and those of the module's schemas. */
export const noun = <const Part extends string, const Name extends string>(
  part: Part,
  tag: string,
  operations: Record<Name, Operation>,
  requests: Record<string, Operation> = {},
): Noun<Part, Name> => ({ part, tag, operations, requests });

/** The names of the parameters in a path. */
export const paramsOf = (route: string): string[] => [...route.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);

/** An argument of a method. Its run is `{ threadId, id }`, for the two parameters of the path. */
export type Argument =
  | { kind: 'run'; name: 'run' }
  | { kind: 'param'; name: string; param: string }
  | { kind: 'field'; name: string; schema: z.ZodType }
  | { kind: 'body'; name: string; schema: z.ZodType }
  | { kind: 'options'; name: 'options'; fields: Fields };

/** The arguments of a method, in order. */
export function argumentsOf(operation: Operation): Argument[] {
  const { route, params: known = {}, body, bodyIs, bodyName = 'definition', positional = [] } = operation;
  const names = route === undefined ? Object.keys(known) : paramsOf(route);
  const isRun = names.includes('thread_id') && names.includes('run_id');
  const params = names
    .filter((name) => !isRun || (name !== 'thread_id' && name !== 'run_id'))
    .map((param): Argument => ({ kind: 'param', name: toCamelCase(param), param }));
  const given = givenBy(operation);
  const fields = optionsOf(operation);
  const takesOptions = Object.keys(fields).length > 0;
  return [
    ...(isRun ? [{ kind: 'run', name: 'run' } as const] : []),
    ...params.filter(({ name }) => !positional.includes(name)),
    ...positional.map(
      (name): Argument => params.find((param) => param.name === name) ?? { kind: 'field', name, schema: given[name]! },
    ),
    ...(body && bodyIs !== 'options' ? [{ kind: 'body', name: bodyName, schema: body } as const] : []),
    ...(takesOptions ? [{ kind: 'options', name: 'options', fields } as const] : []),
  ];
}

/** Every option that the method takes, with its schema. */
export function optionsOf(operation: Operation): Fields {
  const { own, positional = [] } = operation;
  const given = Object.entries(givenBy(operation)).filter(([name]) => !positional.includes(name));
  return { ...Object.fromEntries(given), ...own };
}

/** The fields of the query, and of a body of options. */
const givenBy = ({ query, body, bodyIs }: Operation): Fields => ({
  ...query,
  ...(bodyIs === 'options' ? ((body as z.ZodObject).shape as Fields) : {}),
});
