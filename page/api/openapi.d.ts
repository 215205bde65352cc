// Generated from the OpenAPI document: run `npm run types:api`.

export type Json =
  | null
  | boolean
  | number
  | string
  | Json[]
  | {
      [key: string]: Json;
    };
export type JsonObject = {
  [key: string]: Json;
};
export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    /** @description 1 to 128 of `[A-Za-z0-9._:@-]`, starting with a letter or digit. */
    Id: string;
    /** @enum {string} */
    RunStatus: 'waiting' | 'queued' | 'running' | 'suspended' | 'completed' | 'failed' | 'cancelled';
    /** @description Token counters. Where the provider counts them, also `cache_read_tokens` and `cache_write_tokens`, part of the input, `reasoning_tokens`, part of the output, and its own. */
    Usage: {
      /** @description Tokens sent. */
      input_tokens: number;
      /** @description Tokens received. */
      output_tokens: number;
      /** @description Their sum. */
      total_tokens: number;
    } & {
      [key: string]: number;
    };
    /** @description How the context is cut before a model call: a preset or fields. */
    ContextPolicy:
      | ('window' | 'short_context' | 'long_context' | 'tool_focused')
      | {
          /** @description Tokens of request and answer together. Default: the window of the model, or no limit where that is unknown; `window` refuses such a model; null: no limit. */
          max_input_tokens?: number | 'window' | null;
          /** @description Left for the answer; default 2,000, of a window an eighth. */
          reserve_output_tokens?: number;
          /** @description Maximum messages besides the system prompt; 0: no limit. */
          max_messages?: number;
          /** @description Newest turns to keep whole, even over budget; default 3. */
          keep_last_turns?: number;
          /**
           * @description What a compaction left is sent (`use_existing`, default) or not; `request_new`: a run over budget compacts.
           * @enum {string}
           */
          summarization?: 'none' | 'use_existing' | 'request_new';
          /** @description Share of the budget from which on the end of a run asks for a compaction of its lane. */
          compact_at?: number;
          /** @enum {string} */
          summary_role?: 'system' | 'user';
          include_kinds?: ('message' | 'tool_call' | 'tool_result' | 'summary')[];
          system_prompt?: string;
          /** @description `heuristic`, `calibrated` (default), `exact`, or the name of one of the server’s own. */
          token_estimator?: string;
          projector?: string;
        };
    /** @description Settings of model calls, named as in the AI SDK. A model ignores those it does not support. */
    Settings: {
      max_output_tokens?: number;
      temperature?: number;
      top_p?: number;
      top_k?: number;
      presence_penalty?: number;
      frequency_penalty?: number;
      seed?: number;
      stop_sequences?: string[];
      /** @enum {string} */
      reasoning?: 'provider-default' | 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';
      /** @description Keyed by provider: `{"openai": {…}}`; passed on unchanged. */
      provider_options?: JsonObject;
      /** @description HTTP headers of the model calls. */
      headers?: {
        [key: string]: string;
      };
    };
    BatchRun: {
      agent: string;
      input: components['schemas']['Content'];
      /** @description The lane; default: the active lane of the thread. */
      context_ref?: components['schemas']['Id'];
      /** @description Repeating the id returns the same run; also as Idempotency-Key. */
      request_id?: components['schemas']['Id'];
      /**
       * @description If the thread has an active run: fail with 409 `thread_busy` (default), wait in line, or cancel that run and go first, which needs the scope `steer` as well.
       * @enum {string}
       */
      busy?: 'reject' | 'wait' | 'interrupt';
      /** @description No worker starts the run before this time has passed. It holds its thread meanwhile. */
      delay_ms?: number;
      /** @description The run fails with `expired` if no worker has started it this long after it was accepted, or after its delay. */
      ttl_ms?: number;
      /** @description Of its job: 0 (default) goes first, then lower numbers. */
      priority?: number;
      /** @description Overrides the model of the agent. */
      model?: string;
      /** @description Overrides the strategy of the agent. */
      strategy?: string;
      /** @description Options of the strategy, over those of the agent where it has the same strategy. */
      strategy_options?: JsonObject;
      /** @description Names of the tools to use instead of those of the agent and the thread. */
      tools?: string[];
      /** @description Restricts the available tools to these; an empty array allows none. */
      allowed_tools?: string[];
      /** @description Override the settings of the agent, key by key. */
      settings?: components['schemas']['Settings'];
      /** @description HTTP headers of the model calls, merged with those in the settings. Stored with the run. */
      headers?: {
        [key: string]: string;
      };
      /** @description Name of the request transformer to use instead of the one of the agent. */
      request_transformer?: string;
      /** @description Replaces the context policy of agent and thread. */
      context_policy?: components['schemas']['ContextPolicy'];
      /** @description Maximum number of model calls. */
      max_iterations?: number;
      /** @description Tokens, in and out, after which the run ends with the best result it has. */
      max_total_tokens?: number;
      /** @description Time since its start after which the run ends with the best result it has. */
      max_duration_ms?: number;
      /** @description Whether the model streams its answer. */
      streaming?: boolean;
      /** @description How long a model may stay silent before the run fails; 0: the tool timeout + 60,000. */
      idle_timeout_ms?: number;
      output?: components['schemas']['OutputContract'];
      /** @description Time limit of one tool attempt. */
      tool_timeout_ms?: number;
      /** @description Merged over the tool context of the agent and the thread. */
      tool_context?: JsonObject;
      /**
       * @description restore: after a failure, restore the lane to its state before the run.
       * @enum {string}
       */
      on_failure?: 'keep' | 'restore';
      /** @description Stored in the refs of the user message. */
      extra_refs?: JsonObject;
      /** @description Create the thread if it does not exist. */
      create_thread?: boolean;
      /** @description Default: a new thread. */
      thread_id?: components['schemas']['Id'];
    };
    Content: string | components['schemas']['ContentPart'][];
    /** @description `{type: "text", text}` or `{type: "file", media_type, data | url}`; `data` is base64. OpenAI’s `image_url` and `file` parts and the AI SDK’s `image` and `file` parts are accepted and stored as `file`. */
    ContentPart: JsonObject;
    /** @description Requires the answer to be a JSON object, which becomes the result. `raw`: text. */
    OutputContract:
      | 'raw'
      | {
          /** @enum {string} */
          mode: 'raw';
        }
      | {
          /** @description The JSON Schema of an object with properties. */
          schema: JsonObject;
          name?: string;
          description?: string;
          /**
           * @description What to do with an answer that violates the contract; default `repair`.
           * @enum {string}
           */
          mode?: 'repair' | 'error';
          /** @description Maximum repairs of the answer; default 1. Values above 3 count as 3. */
          max_repairs?: number;
        };
    /** @description One conversation and its append-only log. */
    Thread: {
      id: components['schemas']['Id'];
      tenant_id: components['schemas']['Id'];
      /** @description Number of entries. */
      rev: number;
      /** @description Number of events: a stream from now on starts after `event_rev` - 1. */
      event_rev: number;
      active_context_ref: components['schemas']['Id'];
      /** @description The run that is queued, running or suspended. */
      active_run_id: components['schemas']['Id'] | null;
      /** @description Your own data. */
      metadata: JsonObject;
      /** @description State written by tools. */
      state: JsonObject;
      /** @description The thread it is a fork of. */
      parent_thread_id: components['schemas']['Id'] | null;
      /** @description The last entry of the parent it knows of. */
      fork_seq: number | null;
      /**
       * Format: date-time
       * @description When the thread was created.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When the thread was last written to.
       */
      updated_at: string;
      /** @description In US dollars, by the list prices of the providers; null where nothing was spent on a model whose price is known. */
      cost: number | null;
      /** @description Tokens of models whose price nobody knows; `cost` is without them. */
      unpriced_tokens: number;
    };
    /** @description An error in the format of RFC 9457. */
    Problem: {
      /** @description `urn:lanefold:<code>` */
      type: string;
      title: string;
      status: number;
      /**
       * @description Stable identifier, for programs.
       * @enum {string}
       */
      code:
        | 'invalid_id'
        | 'invalid_input'
        | 'empty_content'
        | 'not_a_transaction'
        | 'invalid_text'
        | 'reserved_kind'
        | 'invalid_json'
        | 'invalid_request'
        | 'unsupported_media_type'
        | 'body_too_large'
        | 'body_timeout'
        | 'unknown_agent'
        | 'unknown_model'
        | 'unknown_tool'
        | 'missing_provider_key'
        | 'invalid_agent'
        | 'invalid_tool'
        | 'invalid_request_transformer'
        | 'invalid_output'
        | 'invalid_policy'
        | 'unknown_window'
        | 'invalid_projection'
        | 'validation_timeout'
        | 'unknown_strategy'
        | 'invalid_strategy_options'
        | 'invalid_strategy'
        | 'invalid_operation'
        | 'open_tool_group'
        | 'idempotency_mismatch'
        | 'missing_token_secret'
        | 'invalid_token_prefix'
        | 'invalid_token_format'
        | 'invalid_base64'
        | 'invalid_token_signature'
        | 'invalid_token_payload'
        | 'token_version_mismatch'
        | 'invalid_token_issuer'
        | 'token_expired'
        | 'token_config_mismatch'
        | 'invalid_token_state'
        | 'legacy_token_state'
        | 'legacy_thread_checkpoint'
        | 'missing_field'
        | 'invalid_status'
        | 'invalid_context'
        | 'invalid_checkpoint_state'
        | 'unauthorized'
        | 'forbidden'
        | 'forbidden_host'
        | 'forbidden_origin'
        | 'override_not_allowed'
        | 'not_found'
        | 'method_not_allowed'
        | 'thread_not_found'
        | 'run_not_found'
        | 'key_not_found'
        | 'call_not_found'
        | 'content_not_found'
        | 'tool_call_not_found'
        | 'thread_exists'
        | 'thread_erased'
        | 'thread_busy'
        | 'lane_busy'
        | 'rev_conflict'
        | 'no_active_run'
        | 'other_run_active'
        | 'run_ending'
        | 'not_steerable'
        | 'queue_full'
        | 'input_too_large'
        | 'context_too_large'
        | 'token_stale'
        | 'run_active'
        | 'strategy_changed'
        | 'lease_lost'
        | 'step_ahead'
        | 'append_only'
        | 'already_decided'
        | 'not_awaiting_approval'
        | 'rate_limited'
        | 'database_unreachable'
        | 'database_busy'
        | 'database_full'
        | 'database_timeout'
        | 'database_error'
        | 'thread_locked'
        | 'prepared_statement_lost'
        | 'database_outdated'
        | 'database_too_new'
        | 'tenants_not_enforced'
        | 'role_unfit'
        | 'log_replaced'
        | 'lanefold_closed'
        | 'queue_unreachable'
        | 'embedded_postgres_failed'
        | 'not_ready'
        | 'server_busy'
        | 'missing_api_key'
        | 'telemetry_unavailable'
        | 'port_taken'
        | 'listen_failed'
        | 'wait_timeout'
        | 'internal';
      /** @description What happened, for humans. */
      detail: string;
      /** @description What to do. */
      hint?: string;
      /** @description The invalid fields. */
      errors?: {
        path: string;
        message: string;
      }[];
    };
    NewThread: {
      /** @description Default: a generated id. */
      id?: components['schemas']['Id'];
      tenant_id?: components['schemas']['Id'];
      /** @description Only if every agent of the server lists `systemPrompt` as overridable. */
      system_prompt?: string | null;
      /** @description Your own data, up to 64 KiB, stored with the thread. */
      metadata?: JsonObject;
    };
    ThreadPage: {
      data: components['schemas']['ThreadSummary'][];
      /** @description Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short, or empty, before the last one. */
      next_after: string | null;
    };
    /** @description A thread as lists show it. */
    ThreadSummary: {
      id: components['schemas']['Id'];
      tenant_id: components['schemas']['Id'];
      /** @description Number of entries. */
      rev: number;
      active_run_id: components['schemas']['Id'] | null;
      /** @description Your own data. */
      metadata: JsonObject;
      parent_thread_id: components['schemas']['Id'] | null;
      /**
       * Format: date-time
       * @description When the thread was created.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When the thread was last written to.
       */
      updated_at: string;
      /** @description Of the active run, or else of the latest one; null without runs. */
      status: components['schemas']['RunStatus'] | null;
      /** @description Number of runs, up to 1,000. */
      runs: number;
      /** @description Tokens of these runs. */
      total_tokens: number;
      /** @description In US dollars, by the list prices of the providers; null where nothing was spent on a model whose price is known. */
      cost: number | null;
      /** @description Tokens of models whose price nobody knows; `cost` is without them. */
      unpriced_tokens: number;
      /** @description The active run, or else the latest one. */
      last_run: {
        id: components['schemas']['Id'];
        agent: string;
        model: string;
        status: components['schemas']['RunStatus'];
        error_type: string | null;
        /**
         * Format: date-time
         * @description When the run was accepted.
         */
        at: string;
        /**
         * Format: date-time
         * @description No worker starts the run before.
         */
        start_at: string | null;
      } | null;
      /** @description The first 200 characters of the message that began the latest run. */
      last_message: string | null;
      /** @description Of its newest ten runs. Null unless asked for with `marks`. */
      marks: components['schemas']['MarkCount'][] | null;
    };
    /** @description How often something is marked, and where for the first time. */
    MarkCount: {
      run_id: components['schemas']['Id'];
      /** @description `tool_failed`, `tool_retried`, `model_retried`, `model_overridden`, `worker_lost`, `cut`, `over_budget`, `cache_missed`, `steered`, `steer_dropped`, `prompt_changed`, `context_replaced`, `compacted`, `waiting`, `abandoned` or `failed`. More may come. */
      kind: string;
      /** @description The entry to look at; null: it concerns the run. */
      seq: number | null;
      /** @description The model call that shows more. */
      llm_call_id: components['schemas']['Id'] | null;
      /** @description How often. */
      count: number;
    };
    /** @description Prompt and tool settings of a thread, which override those of its agents. */
    Config: {
      system_prompt: string | null;
      tools: {
        added: string[];
        removed: string[];
      };
      /** @description Merged over the tool context of the agent. */
      tool_context: JsonObject;
      context_policy: JsonObject | null;
    };
    ConfigReceipt: {
      /**
       * @description deferred: the change is applied when the active run ends.
       * @enum {string}
       */
      status: 'applied' | 'deferred';
      /** @description The first entry of the change. */
      first_seq: number | null;
    };
    ConfigChange: {
      /** @description null: no system prompt. */
      system_prompt?: string | null;
      /** @description Replaces the tool context of the thread. */
      tool_context?: JsonObject;
      /** @description null: back to that of the agent. */
      context_policy?:
        | ('window' | 'short_context' | 'long_context' | 'tool_focused')
        | {
            /** @description Tokens of request and answer together. Default: the window of the model, or no limit where that is unknown; `window` refuses such a model; null: no limit. */
            max_input_tokens?: number | 'window' | null;
            /** @description Left for the answer; default 2,000, of a window an eighth. */
            reserve_output_tokens?: number;
            /** @description Maximum messages besides the system prompt; 0: no limit. */
            max_messages?: number;
            /** @description Newest turns to keep whole, even over budget; default 3. */
            keep_last_turns?: number;
            /**
             * @description What a compaction left is sent (`use_existing`, default) or not; `request_new`: a run over budget compacts.
             * @enum {string}
             */
            summarization?: 'none' | 'use_existing' | 'request_new';
            /** @description Share of the budget from which on the end of a run asks for a compaction of its lane. */
            compact_at?: number;
            /** @enum {string} */
            summary_role?: 'system' | 'user';
            include_kinds?: ('message' | 'tool_call' | 'tool_result' | 'summary')[];
            system_prompt?: string;
            /** @description `heuristic`, `calibrated` (default), `exact`, or the name of one of the server’s own. */
            token_estimator?: string;
            projector?: string;
          }
        | null;
      register_tools?: string[];
      unregister_tools?: string[];
      /** @description The lane; default: the whole thread. */
      context_ref?: components['schemas']['Id'];
    };
    /** @description Tools that the thread adds to and removes from those of any agent that runs on it. */
    ToolList: {
      added: string[];
      removed: string[];
      /** @description All tools this server knows, those of its agents and shared ones. */
      known: string[];
    };
    /** @description What the erasure of a thread removed. */
    ErasureReport: {
      thread_id: components['schemas']['Id'];
      tenant_id: components['schemas']['Id'];
      removed: components['schemas']['Removed'];
      /** @description What is not removed, such as backups and what model providers keep. */
      left: string[];
    };
    /** @description How many of each were removed. */
    Removed: {
      /** @description Threads. */
      threads: number;
      /** @description Entries of their logs. */
      entries: number;
      /** @description Events of their traces. */
      events: number;
      /** @description Runs. */
      runs: number;
      /** @description Tool calls. */
      tool_calls: number;
      /** @description Inputs sent to runs. */
      inputs: number;
      /** @description Context operations. */
      operations: number;
      /** @description Large texts. */
      contents: number;
      /** @description Jobs in the queue. */
      jobs: number;
    };
    /** @description What the erasure of a tenant removed. */
    TenantErasureReport: {
      tenant_id: components['schemas']['Id'];
      removed: components['schemas']['Removed'];
      /** @description Threads that are kept because a run is active on them. Cancel it first. */
      busy: components['schemas']['Id'][];
      /** @description The tenant has more threads: repeat the request. */
      more: boolean;
      /** @description What is not removed, such as backups and what model providers keep. */
      left: string[];
    };
    NewFork: {
      /** @description Default: a generated id. The same request again returns the same fork. */
      id?: components['schemas']['Id'];
      /** @description The last entry the fork knows of; -1: none. Default: the last. */
      seq?: number;
      /** @description Only this lane; default: all but those of strategies’ questions. */
      context_ref?: components['schemas']['Id'];
      /** @description Your own data, up to 64 KiB; the parent’s is not copied. */
      metadata?: JsonObject;
      /** @description In place of the prompts of all lanes, if every agent lists it as overridable. */
      system_prompt?: string | null;
      /** @description Close an open tool group with flagged error results. */
      repair?: boolean;
    };
    /** @description The run was accepted and will end, even if processes crash. */
    RunReceipt: {
      id: string;
      thread_id: components['schemas']['Id'];
      request_id: string;
      status: components['schemas']['RunStatus'];
      duplicate: boolean;
    };
    Rerun: {
      /** @description The id of the fork; default: a generated one. */
      thread_id?: components['schemas']['Id'];
      /** @description Overrides the model of the run. */
      model?: string;
      /** @description Overrides the prompt of the lane, if every agent lists it as overridable. */
      system_prompt?: string | null;
      /** @description Replaces the context policy of agent and thread. */
      context_policy?: components['schemas']['ContextPolicy'];
      /** @description Your own data, stored with the fork. */
      metadata?: JsonObject;
      /** @description The same id again returns the same run. */
      request_id?: components['schemas']['Id'];
    };
    /** @description What two contexts share, and what they do not, in order. */
    ContextDiff: {
      data: {
        /**
         * @description removed: only in the first context.
         * @enum {string}
         */
        change: 'same' | 'removed' | 'added';
        /** @description Position in the first context. */
        ordinal: number | null;
        /** @description Its entry in the first thread. */
        seq: number | null;
        /** @description Position in the second context. */
        other_ordinal: number | null;
        /** @description Its entry in the second thread. */
        other_seq: number | null;
        role: string;
        /** @description A string or an array of parts. */
        content: Json;
        /** @description An array or null. */
        tool_calls: Json;
        tool_call_id: string | null;
        name: string | null;
      }[];
    };
    EntryPage: {
      data: components['schemas']['Entry'][];
      /** @description Pass it as `after` to get the next page; null on the last page. */
      next_after: number | null;
    };
    /** @description One row of the append-only log. */
    Entry: {
      /** @description Position in the log, from 0, without gaps. */
      seq: number;
      kind: string;
      context_ref: string | null;
      role: string | null;
      op_id: string | null;
      run_id: string | null;
      request_id: string | null;
      /** @description Content of the entry. */
      payload: JsonObject;
      /** @description Provenance. */
      refs: JsonObject;
      /**
       * Format: date-time
       * @description When the entry was appended.
       */
      at: string;
    };
    AppendReceipt: {
      first_seq: number;
      /** @description Current number of entries, including those appended since a duplicate was first accepted. */
      rev: number;
      duplicate: boolean;
    };
    AppendEntries: {
      entries: (components['schemas']['NewMessageEntry'] | components['schemas']['NewOwnEntry'])[];
      /** @description Append only at this rev, else `rev_conflict`. */
      expected_rev?: number;
      /** @description Add flagged error results for tool calls without a result. */
      repair?: boolean;
      /** @description Repeating the id returns the first receipt; also as Idempotency-Key. */
      op_id?: components['schemas']['Id'];
    };
    /** @description A message on a lane (default: `default`). */
    NewMessageEntry: {
      /** @enum {string} */
      kind: 'ai_message';
      context_ref?: components['schemas']['Id'];
      payload: components['schemas']['Message'];
      /** @description Provenance; your own data, up to 64 KiB. */
      refs?: JsonObject;
    };
    Message: {
      /** @enum {string} */
      role: 'user' | 'assistant' | 'tool';
      content: components['schemas']['Content'];
      tool_calls?: components['schemas']['ToolCall'][];
      tool_call_id?: string;
      name?: string;
      thinking?: string;
      reasoning_details?: Json;
      /** @description Metadata of the provider. */
      provider_metadata?: JsonObject;
    };
    ToolCall: {
      id: string;
      name: string;
      /** @description Any JSON. */
      arguments?: Json;
      /** @description The original string of the provider, byte for byte. */
      arguments_raw?: string;
      /** @description Metadata of the provider. */
      provider_metadata?: JsonObject;
    };
    /** @description An entry of a custom kind, which is not part of any context. */
    NewOwnEntry: {
      /** @description Default: note. */
      kind?: string;
      context_ref?: components['schemas']['Id'];
      /** @description Your own data; default: {}. */
      payload?: JsonObject;
      /** @description Provenance; your own data, up to 64 KiB. */
      refs?: JsonObject;
    };
    /** @description A part of a large text. */
    ContentRange: {
      id: components['schemas']['Id'];
      /** @description Characters of the whole text, counted as code points. */
      chars: number;
      /** @description Bytes of the whole text in UTF-8. */
      bytes: number;
      /** @description Where this part begins, in characters. */
      offset: number;
      text: string;
      /** @description Where to read on; null at the end. */
      next_offset: number | null;
    };
    UiMessagePage: {
      data: components['schemas']['UiMessage'][];
      /** @description Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short, or empty, before the last one. */
      next_after: string | null;
    };
    /** @description A `UIMessage` of the AI SDK, with its names. */
    UiMessage: {
      /** @description Of a question its request id, of an answer the id of its run. */
      id: string;
      /** @enum {string} */
      role: 'user' | 'assistant';
      /** @description Of an answer: `thread_id`, `run_id`, `usage`, `termination_reason`, `error`. */
      metadata?: {
        [key: string]: unknown;
      };
      /** @description As in the AI SDK. */
      parts: ({
        type: string;
      } & {
        [key: string]: unknown;
      })[];
    };
    LaneList: {
      data: components['schemas']['Lane'][];
    };
    /** @description A named context of a thread. */
    Lane: {
      context_ref: components['schemas']['Id'];
      /** @description `seq` of the latest replace operation; -1 without one. */
      anchor_seq: number;
      /** @description `seq` of the last entry of the lane. */
      last_seq: number;
      /** @description Tool calls of the last message that have no result yet. */
      open_calls: number;
    };
    /** @description What the model sees on a lane: the system prompt, then the messages since the latest replace. */
    Context: {
      thread_id: components['schemas']['Id'];
      context_ref: components['schemas']['Id'];
      /** @description The entry the context is as of; null: now. */
      at_seq: number | null;
      messages: components['schemas']['ContextMessage'][];
      /** @description With `policy` or `explain`: the policy applied, with its defaults filled in. */
      policy?: JsonObject;
      meta?: components['schemas']['ProjectionMeta'];
      explain?: components['schemas']['ExplainedMessage'][];
    };
    /** @description A row of the view `lane_context`. */
    ContextMessage: {
      /** @description Position in the context, from 0. */
      ordinal: number;
      /** @description The entry it comes from. */
      seq: number;
      /** @description `seq` of the anchor of the lane; -1 without one. */
      anchor_seq: number;
      role: components['schemas']['Role'];
      content: components['schemas']['Content'];
      tool_calls: components['schemas']['ToolCall'][] | null;
      tool_call_id: string | null;
      name: string | null;
      thinking: string | null;
      /** @description Reasoning data of the provider. */
      reasoning_details: Json;
      /** @description Metadata of the provider. */
      provider_metadata: Json;
      run_id: string | null;
      request_id: string | null;
      /** @description Provenance. */
      refs: Json;
    };
    /** @enum {string} */
    Role: 'system' | 'user' | 'assistant' | 'tool';
    /** @description What a policy made of a context. */
    ProjectionMeta: {
      /** @description Tokens of the messages, the system prompt included. */
      estimated_tokens: number;
      /** @description Tokens of the tools; 0 here, because a lane has no agent. */
      tool_tokens: number;
      /** @description Tokens the request may have; null: no limit. */
      budget: number | null;
      /** @description The context window of the model; null: unknown. */
      window: number | null;
      /** @description The budget or `max_messages` left messages out. */
      truncated: boolean;
      /** @description Messages sent, without the system prompt. */
      entries_included: number;
      /** @description Messages of the lane, without the system prompt. */
      entries_total: number;
      summary_used: boolean;
      /** @description What must be kept is larger than the budget. */
      over_budget: boolean;
      estimator: {
        name: string;
        /** @description What the heuristic is multiplied with. */
        ratio: number;
        /** @description Mean error of `calibrated`, as a share. */
        error: number | null;
        /** @description Model calls of this process that `calibrated` learnt from. */
        calls: number | null;
        /** @description Why the heuristic counted instead. */
        fallback: string | null;
      };
    };
    /** @description Why a message is sent or not, and what it costs. */
    ExplainedMessage: {
      /** @description Position in the context before the policy, from 0. */
      ordinal: number;
      /** @description The entry; -1 for the prompt of a policy. */
      seq: number;
      role: string;
      /** @enum {string} */
      kind: 'system' | 'summary' | 'message' | 'tool_group';
      /** @description What the message costs. */
      tokens: number;
      included: boolean;
      /** @description In: system_prompt, summary, durable, last_turns, question, fits, projector. Out: kind, summarization, cut_before, budget, max_messages, before_question, not_chosen. */
      reason: string;
      /** @description The message itself, where it is left out. */
      message?: JsonObject;
    };
    OperationReceipt: {
      op_id: components['schemas']['Id'];
      /**
       * @description deferred: a run is active; the operation is applied when it ends.
       * @enum {string}
       */
      status: 'applied' | 'deferred' | 'duplicate' | 'stale';
      /** @enum {string} */
      op_status: 'pending' | 'applied' | 'superseded' | 'stale';
      /** @description The entry of the operation, once applied. */
      seq: number | null;
    };
    ContextOperation: {
      /** @description Applied at most once per thread; also as Idempotency-Key. */
      op_id?: components['schemas']['Id'];
      /** @description The lane; for a replace default: the active one. */
      context_ref?: components['schemas']['Id'];
      operation: components['schemas']['Replace'] | components['schemas']['Switch'];
      /** @description Apply only at this rev, else `rev_conflict`. */
      expected_rev?: number;
      /** @description Add flagged error results for tool calls without a result. */
      repair?: boolean;
    };
    /** @description Replaces the context of a lane. */
    Replace: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      type: 'replace';
      result_context: {
        /** @description Your own name of the context, kept in the log. */
        id?: components['schemas']['Id'];
        /** @description Absent: the lane keeps its system prompt. null: no system prompt. */
        system_prompt?: string | null;
        entries: components['schemas']['Message'][];
      };
      /** @enum {string} */
      reason?: 'manual' | 'restore' | 'compaction' | 'system';
      /** @description The entry the operation is based on; recorded only. */
      base_seq?: number;
      /** @description Your own data; recorded only. */
      meta?: JsonObject;
    };
    /** @description Makes a lane the active one. */
    Switch: {
      /**
       * @description discriminator enum property added by openapi-typescript
       * @enum {string}
       */
      type: 'switch';
      /** @enum {string} */
      reason?: 'manual' | 'restore' | 'compaction' | 'system';
      /** @description The entry the operation is based on; recorded only. */
      base_seq?: number;
      /** @description Your own data; recorded only. */
      meta?: JsonObject;
    };
    LaneReset: {
      /** @description Applied at most once per thread; also as Idempotency-Key. */
      op_id?: components['schemas']['Id'];
      /** @enum {string} */
      reason?: 'manual' | 'restore' | 'compaction' | 'system';
      /** @description Your own data; recorded only. */
      meta?: JsonObject;
      /** @description Apply only at this rev, else `rev_conflict`. */
      expected_rev?: number;
    };
    Compact: {
      /** @description The lane; default: the active one. */
      context_ref?: components['schemas']['Id'];
      /** @description Entries to summarise, inclusive. Default: all but the newest turns. */
      range?: {
        from_seq: number;
        to_seq: number;
      };
      /** @description The newest turns that stay; default: those of the context policy. */
      keep_turns?: number;
      /** @description Default: that of the lane’s latest run. */
      agent?: string;
      /** @description Default: that of the lane’s latest run. */
      model?: string;
    };
    /** @description How a model answered a recorded call. Stored nowhere. */
    CallReplay: {
      thread_id: components['schemas']['Id'];
      llm_call_id: components['schemas']['Id'];
      model: string;
      /** @description The recorded messages, before any change, have the hash that was recorded. */
      verified: boolean;
      /** @description Messages sent, the system prompt included. */
      messages: number;
      answer: JsonObject | null;
      error: {
        type: string;
        message: string;
      } | null;
      /** @description Null if the call failed. */
      usage: components['schemas']['Usage'] | null;
      finish_reason: string | null;
      duration_ms: number;
    };
    ReplayRequest: {
      /** @description Default: the model of the call. */
      model?: string;
      /** @description In place of the whole system message; null for none. Default: the one that was sent. */
      system_prompt?: string | null;
      /** @description Cuts the context of the lane, as it was before the call, in place of the policy of the run. */
      context_policy?: components['schemas']['ContextPolicy'];
    };
    /** @description One answered model call: exactly what was sent, and what came back. */
    ModelCall: {
      thread_id: components['schemas']['Id'];
      run_id: components['schemas']['Id'];
      llm_call_id: components['schemas']['Id'];
      context_ref: components['schemas']['Id'];
      agent: string;
      model: string;
      /** @description Tokens of the model’s context window; null: unknown. */
      window: number | null;
      /** @description Of the run, from 1. */
      iteration: number;
      /** @description The entry of the answer. */
      seq: number;
      /** @description The messages as they were sent, in canonical form. */
      messages: components['schemas']['SentMessage'][];
      /** @description For each message the `seq` of its entry; null for instructions that are never stored. */
      sources: (number | null)[];
      /** @description SHA-256, in hex, of the canonical JSON (RFC 8785) of the messages, each followed by a newline, as the worker recorded it when it sent them. */
      context_hash: string;
      /** @description The messages have that hash: they are what was sent, byte for byte. */
      verified: boolean;
      /**
       * @description What keeps the log from reproducing the messages: a request transformer, or an output contract this server does not know.
       * @enum {string|null}
       */
      unverified_because: 'transformed' | 'output_contract' | 'mismatch' | null;
      /** @description The answer. */
      answer: JsonObject;
      /** @description Provenance of the answer. */
      refs: JsonObject;
      /** @description Null if the trace was cleared. */
      usage: components['schemas']['Usage'] | null;
      finish_reason: string | null;
      /**
       * Format: date-time
       * @description When the call was committed to; null if the trace was cleared.
       */
      started_at: string | null;
      /**
       * Format: date-time
       * @description When the answer was committed.
       */
      completed_at: string;
      duration_ms: number | null;
      /** @description Failed or lost attempts before this answer. */
      failed_attempts: {
        kind: string;
        /**
         * Format: date-time
         * @description When it was committed.
         */
        at: string;
        /** @description Depends on the kind. */
        data: JsonObject;
      }[];
      /** @description The tools offered, as this server knows the agent; null if it does not. */
      tools: components['schemas']['Tool'][] | null;
      /** @description What broke the beginning it would share with the call before it on the lane; or null. */
      prefix_break: {
        /** @description The first message that differs from the call before. */
        position: number;
        /** @description The entry that did it: the new prompt, the anchor, or the answer whose refs say what its policy left out. */
        seq: number;
        /** @enum {string} */
        cause: 'prompt' | 'anchor' | 'policy';
      } | null;
      /** @description The call before it on the lane. */
      previous_call_id: components['schemas']['Id'] | null;
      /** @description The call after it on the lane. */
      next_call_id: components['schemas']['Id'] | null;
    };
    /** @description A message as a model is sent it. */
    SentMessage: {
      role: components['schemas']['Role'];
      content: components['schemas']['Content'];
      tool_calls?: components['schemas']['ToolCall'][];
      tool_call_id?: string;
      name?: string;
      thinking?: string;
      reasoning_details?: Json;
      /** @description Metadata of the provider. */
      provider_metadata?: JsonObject;
    };
    Tool: {
      name: string;
      description: string | null;
      /** @description JSON Schema. */
      input_schema: JsonObject;
    };
    NewRun: {
      agent: string;
      input: components['schemas']['Content'];
      /** @description The lane; default: the active lane of the thread. */
      context_ref?: components['schemas']['Id'];
      /** @description Repeating the id returns the same run; also as Idempotency-Key. */
      request_id?: components['schemas']['Id'];
      /**
       * @description If the thread has an active run: fail with 409 `thread_busy` (default), wait in line, or cancel that run and go first, which needs the scope `steer` as well.
       * @enum {string}
       */
      busy?: 'reject' | 'wait' | 'interrupt';
      /** @description No worker starts the run before this time has passed. It holds its thread meanwhile. */
      delay_ms?: number;
      /** @description The run fails with `expired` if no worker has started it this long after it was accepted, or after its delay. */
      ttl_ms?: number;
      /** @description Of its job: 0 (default) goes first, then lower numbers. */
      priority?: number;
      /** @description Overrides the model of the agent. */
      model?: string;
      /** @description Overrides the strategy of the agent. */
      strategy?: string;
      /** @description Options of the strategy, over those of the agent where it has the same strategy. */
      strategy_options?: JsonObject;
      /** @description Names of the tools to use instead of those of the agent and the thread. */
      tools?: string[];
      /** @description Restricts the available tools to these; an empty array allows none. */
      allowed_tools?: string[];
      /** @description Override the settings of the agent, key by key. */
      settings?: components['schemas']['Settings'];
      /** @description HTTP headers of the model calls, merged with those in the settings. Stored with the run. */
      headers?: {
        [key: string]: string;
      };
      /** @description Name of the request transformer to use instead of the one of the agent. */
      request_transformer?: string;
      /** @description Replaces the context policy of agent and thread. */
      context_policy?: components['schemas']['ContextPolicy'];
      /** @description Maximum number of model calls. */
      max_iterations?: number;
      /** @description Tokens, in and out, after which the run ends with the best result it has. */
      max_total_tokens?: number;
      /** @description Time since its start after which the run ends with the best result it has. */
      max_duration_ms?: number;
      /** @description Whether the model streams its answer. */
      streaming?: boolean;
      /** @description How long a model may stay silent before the run fails; 0: the tool timeout + 60,000. */
      idle_timeout_ms?: number;
      output?: components['schemas']['OutputContract'];
      /** @description Time limit of one tool attempt. */
      tool_timeout_ms?: number;
      /** @description Merged over the tool context of the agent and the thread. */
      tool_context?: JsonObject;
      /**
       * @description restore: after a failure, restore the lane to its state before the run.
       * @enum {string}
       */
      on_failure?: 'keep' | 'restore';
      /** @description Stored in the refs of the user message. */
      extra_refs?: JsonObject;
      /** @description Create the thread if it does not exist. */
      create_thread?: boolean;
    };
    /** @description An answer for each run of the request, in its order. */
    RunReceipts: {
      data: {
        run?: components['schemas']['RunReceipt'];
        /** @description Why this run was not accepted, if it was not. */
        problem?: components['schemas']['Problem'];
      }[];
    };
    NewRuns: {
      runs: components['schemas']['BatchRun'][];
    };
    RunPage: {
      data: components['schemas']['ListedRun'][];
      /** @description Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short, or empty, before the last one. */
      next_after: string | null;
    };
    /** @description A run as lists show it. */
    ListedRun: {
      id: string;
      thread_id: components['schemas']['Id'];
      request_id: string;
      agent: string;
      strategy: string;
      model: string;
      context_ref: components['schemas']['Id'];
      status: components['schemas']['RunStatus'];
      /** @description Why the run ended; null until then. At a limit, such as max_iterations, a run is completed too. */
      termination_reason: string | null;
      /** @description Model calls so far. */
      iteration: number;
      /** @description Commits so far. */
      step: number;
      /** @description Null before the first answer. */
      usage: components['schemas']['Usage'] | null;
      /** @description The part of `usage` spent on models other than `model`, by model, each with its `calls`; null without any. */
      other_usage: {
        [key: string]: components['schemas']['Usage'];
      } | null;
      /** @description The final answer, or the best result of a search. Null until the run ends, and for a run that ended without one. */
      result: Json;
      error: {
        type: string;
        message: string;
        /** @description What the end left out: restore, operation, configuration, results. */
        skipped?: string[];
      } | null;
      /** @description The run that this one repeats. */
      retry_of: components['schemas']['Id'] | null;
      /** @description The run whose checkpoint token started this one. */
      resumed_from: components['schemas']['Id'] | null;
      /** @description Tool calls that a suspended run waits for; approve or deny each. */
      awaiting: {
        /** @description Tool round of the run, from 1. */
        round: number;
        /** @description Position in the round, from 0. */
        index: number;
        /** @description Id assigned by the provider; not necessarily unique. */
        id: string;
        name: string;
        /** @description Arguments from the model. */
        arguments: Json;
      }[];
      /**
       * Format: date-time
       * @description When undecided calls are denied.
       */
      suspended_until: string | null;
      /**
       * Format: date-time
       * @description Since when no worker that knows the agent, and the strategy, has been seen, while the run waits for one.
       */
      agent_unknown_since: string | null;
      /** @description Of its job: 0 goes first, then lower numbers. */
      priority: number;
      /**
       * Format: date-time
       * @description No worker starts the run before.
       */
      start_at: string | null;
      /**
       * Format: date-time
       * @description When the run fails with `expired` unless a worker has started it.
       */
      expires_at: string | null;
      /** @description The strategy it waits for, where workers know the agent and lack the strategy. */
      unknown_strategy: string | null;
      /**
       * Format: date-time
       * @description When the run was accepted.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When a worker first claimed it.
       */
      started_at: string | null;
      /**
       * Format: date-time
       * @description When the run ended.
       */
      finished_at: string | null;
      duration_ms: number | null;
      /** @description The first 200 characters of the message that began the run; null where none did, as in a compaction. */
      question: string | null;
      /** @description In US dollars, by the list prices of the providers; null where nothing was spent on a model whose price is known. */
      cost: number | null;
      /** @description Tokens of models whose price nobody knows; `cost` is without them. */
      unpriced_tokens: number;
      /** @description How often what of it is worth a look. Null unless asked for with `marks`. */
      marks: components['schemas']['MarkCount'][] | null;
    };
    /** @description A run with its current phase and tool calls. */
    RunSnapshot: {
      id: string;
      thread_id: components['schemas']['Id'];
      request_id: string;
      agent: string;
      strategy: string;
      model: string;
      context_ref: components['schemas']['Id'];
      status: components['schemas']['RunStatus'];
      /** @description Why the run ended; null until then. At a limit, such as max_iterations, a run is completed too. */
      termination_reason: string | null;
      /** @description Model calls so far. */
      iteration: number;
      /** @description Commits so far. */
      step: number;
      /** @description Null before the first answer. */
      usage: components['schemas']['Usage'] | null;
      /** @description The part of `usage` spent on models other than `model`, by model, each with its `calls`; null without any. */
      other_usage: {
        [key: string]: components['schemas']['Usage'];
      } | null;
      /** @description The final answer, or the best result of a search. Null until the run ends, and for a run that ended without one. */
      result: Json;
      error: {
        type: string;
        message: string;
        /** @description What the end left out: restore, operation, configuration, results. */
        skipped?: string[];
      } | null;
      /** @description The run that this one repeats. */
      retry_of: components['schemas']['Id'] | null;
      /** @description The run whose checkpoint token started this one. */
      resumed_from: components['schemas']['Id'] | null;
      /** @description Tool calls that a suspended run waits for; approve or deny each. */
      awaiting: {
        /** @description Tool round of the run, from 1. */
        round: number;
        /** @description Position in the round, from 0. */
        index: number;
        /** @description Id assigned by the provider; not necessarily unique. */
        id: string;
        name: string;
        /** @description Arguments from the model. */
        arguments: Json;
      }[];
      /**
       * Format: date-time
       * @description When undecided calls are denied.
       */
      suspended_until: string | null;
      /**
       * Format: date-time
       * @description Since when no worker that knows the agent, and the strategy, has been seen, while the run waits for one.
       */
      agent_unknown_since: string | null;
      /** @description Of its job: 0 goes first, then lower numbers. */
      priority: number;
      /**
       * Format: date-time
       * @description No worker starts the run before.
       */
      start_at: string | null;
      /**
       * Format: date-time
       * @description When the run fails with `expired` unless a worker has started it.
       */
      expires_at: string | null;
      /** @description The strategy it waits for, where workers know the agent and lack the strategy. */
      unknown_strategy: string | null;
      /**
       * Format: date-time
       * @description When the run was accepted.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When a worker first claimed it.
       */
      started_at: string | null;
      /**
       * Format: date-time
       * @description When the run ended.
       */
      finished_at: string | null;
      duration_ms: number | null;
      /** @description The first 200 characters of the message that began the run; null where none did, as in a compaction. */
      question: string | null;
      /** @description In US dollars, by the list prices of the providers; null where nothing was spent on a model whose price is known. */
      cost: number | null;
      /** @description Tokens of models whose price nobody knows; `cost` is without them. */
      unpriced_tokens: number;
      /** @description What the strategy `adaptive` has chosen, and why. */
      selection: {
        strategy: string;
        score: number;
        task_type: string;
      } | null;
      /** @description What the run is waiting for: `llm`, `tools` or `output`. */
      phase: string | null;
      /** @description The current model call, or the last known one. */
      call_id: string | null;
      /** @description null if this server does not know the agent. */
      max_iterations: number | null;
      /** @description Names of the tools; null if this server does not know the agent. */
      tools: string[] | null;
      tool_calls: components['schemas']['RunToolCall'][];
      /** @description Inputs the run has not read yet. */
      queued_inputs: number;
      /** @description The worker that holds the run, while it is running. */
      worker: {
        id: string;
        /**
         * Format: date-time
         * @description When its lease expires unless renewed.
         */
        lease_until: string;
      } | null;
      /** @description Its last job in BullMQ; the queue may have forgotten it. */
      job: {
        queue: string;
        id: string;
      };
      /** @description Why no worker takes the run: none is alive, or none that is knows its agent or strategy; null while one can, or has it. */
      unattended: {
        /** @enum {string} */
        reason: 'no_worker' | 'unknown_agent' | 'unknown_strategy';
        message: string;
      } | null;
      output: JsonObject | null;
      /** @description What the strategy extracts from the answer besides the result, or null. */
      details: Json;
    };
    RunToolCall: {
      /** @description From 1. */
      round: number;
      /** @description In its round, from 0. */
      index: number;
      /** @description Id assigned by the provider; not necessarily unique. */
      id: string;
      name: string;
      /** @description Arguments from the model. */
      arguments: Json;
      status: string;
      /** @description The result as the model sees it; null while the call is open. */
      result: Json;
      /** @description Number of executions. */
      attempts: number;
      duration_ms: number | null;
    };
    CancelReceipt: {
      id: components['schemas']['Id'];
      thread_id: components['schemas']['Id'];
      status: components['schemas']['RunStatus'];
      /** @description false: the run had already ended. */
      accepted: boolean;
    };
    CancelRun: {
      reason?: string;
    };
    RetryRun: {
      /** @description The same id again returns the same run. */
      request_id?: components['schemas']['Id'];
      /**
       * @description As for a new run.
       * @enum {string}
       */
      busy?: 'reject' | 'wait' | 'interrupt';
    };
    /** @description The run accepted the input. */
    InputReceipt: {
      input_id: components['schemas']['Id'];
      thread_id: components['schemas']['Id'];
      run_id: components['schemas']['Id'];
      /**
       * @description queued: the run reads it before its next model call; injected: it is in the context; dropped: the run ended first.
       * @enum {string}
       */
      status: 'queued' | 'injected' | 'dropped';
      /** @description true: the input was accepted before. */
      duplicate: boolean;
    };
    NewInput: {
      /** @description The text, trimmed, or content parts. */
      content: string | components['schemas']['ContentPart'][];
      /**
       * @description Input always has the role user.
       * @enum {string}
       */
      role?: 'user';
      /** @description Who sent it, for the log. */
      source?: string;
      /** @description Stored in the refs of the message; up to 64 KiB. */
      extra_refs?: JsonObject;
      /** @description Reject the input unless this request is the active one. */
      expected_request_id?: components['schemas']['Id'];
      /** @description Repeating the id does not repeat the input; also as Idempotency-Key. */
      input_id?: components['schemas']['Id'];
    };
    InputPage: {
      data: components['schemas']['Input'][];
      /** @description Pass it as `after` to get the next page; null on the last page. */
      next_after: number | null;
    };
    /** @description Input sent to an active run. */
    Input: {
      id: components['schemas']['Id'];
      run_id: components['schemas']['Id'];
      /** @description Position among the inputs of the run, from 1. */
      ordinal: number;
      /** @enum {string} */
      kind: 'steer' | 'inject';
      source: string;
      content: components['schemas']['Content'];
      /**
       * @description queued: the run reads it before its next model call; injected: it is in the context; dropped: the run ended first.
       * @enum {string}
       */
      status: 'queued' | 'injected' | 'dropped';
      /** @description The entry of the resulting message. */
      entry_seq: number | null;
      /**
       * Format: date-time
       * @description When it was accepted.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When it became a message or was dropped.
       */
      settled_at: string | null;
    };
    /** @description A page of nodes. */
    RunNodePage: {
      data: components['schemas']['RunNode'][];
      /** @description Pass it as `after` to get the next page; null on the last page. */
      next_after: number | null;
    };
    /** @description What a strategy found out: the answer to a question it asked, or a thought. */
    RunNode: {
      /** @description From 1, in the order in which the strategy asked and concluded. */
      node: number;
      /** @description The node it follows from; 0 is the question of the run. */
      parent: number | null;
      /** @description Only where the strategy builds a tree. */
      depth: number | null;
      /** @description What was asked for, such as `generate`; or `thought`, or what the strategy calls it. */
      kind: string;
      /** @description Of an answer `answered` or `tools`; of a thought `open`, `expanded` or `best`. */
      status: string;
      /** @description 0 to 1, where the strategy scores. */
      score: number | null;
      content: string | null;
      /** @description The model call of an answer. */
      call_id: string | null;
      /** @description Of an answer. */
      usage: components['schemas']['Usage'] | null;
      /** @description When an answer came, since the run started. */
      elapsed_ms: number | null;
      /** @description Tool rounds of an answer; otherwise notes of the strategy. */
      data: Json;
    };
    MarkList: {
      data: components['schemas']['Mark'][];
    };
    /** @description Something about a run that is worth a look. */
    Mark: {
      run_id: components['schemas']['Id'];
      /** @description `tool_failed`, `tool_retried`, `model_retried`, `model_overridden`, `worker_lost`, `cut`, `over_budget`, `cache_missed`, `steered`, `steer_dropped`, `prompt_changed`, `context_replaced`, `compacted`, `waiting`, `abandoned` or `failed`. More may come. */
      kind: string;
      /** @description The entry to look at; null: it concerns the run. */
      seq: number | null;
      /** @description The model call that shows more. */
      llm_call_id: components['schemas']['Id'] | null;
      /** @description Depends on the kind. */
      data: JsonObject;
    };
    /** @description A token for a step of a run. */
    Checkpoint: {
      /** @description Signed, not encrypted. It identifies a run and its step, and contains nothing of the conversation. */
      token: string;
      thread_id: components['schemas']['Id'];
      run_id: components['schemas']['Id'];
      /** @description The step the token refers to. */
      step: number;
      /**
       * Format: date-time
       * @description When the token expires; null: never.
       */
      expires_at: string | null;
    };
    NewCheckpoint: {
      /** @description Lifetime of the token; default: 30 days. null: unlimited. */
      expires_in_ms?: number | null;
    };
    /** @description One request executed by an agent. */
    Run: {
      id: string;
      thread_id: components['schemas']['Id'];
      request_id: string;
      agent: string;
      strategy: string;
      model: string;
      context_ref: components['schemas']['Id'];
      status: components['schemas']['RunStatus'];
      /** @description Why the run ended; null until then. At a limit, such as max_iterations, a run is completed too. */
      termination_reason: string | null;
      /** @description Model calls so far. */
      iteration: number;
      /** @description Commits so far. */
      step: number;
      /** @description Null before the first answer. */
      usage: components['schemas']['Usage'] | null;
      /** @description The part of `usage` spent on models other than `model`, by model, each with its `calls`; null without any. */
      other_usage: {
        [key: string]: components['schemas']['Usage'];
      } | null;
      /** @description The final answer, or the best result of a search. Null until the run ends, and for a run that ended without one. */
      result: Json;
      error: {
        type: string;
        message: string;
        /** @description What the end left out: restore, operation, configuration, results. */
        skipped?: string[];
      } | null;
      /** @description The run that this one repeats. */
      retry_of: components['schemas']['Id'] | null;
      /** @description The run whose checkpoint token started this one. */
      resumed_from: components['schemas']['Id'] | null;
      /** @description Tool calls that a suspended run waits for; approve or deny each. */
      awaiting: {
        /** @description Tool round of the run, from 1. */
        round: number;
        /** @description Position in the round, from 0. */
        index: number;
        /** @description Id assigned by the provider; not necessarily unique. */
        id: string;
        name: string;
        /** @description Arguments from the model. */
        arguments: Json;
      }[];
      /**
       * Format: date-time
       * @description When undecided calls are denied.
       */
      suspended_until: string | null;
      /**
       * Format: date-time
       * @description Since when no worker that knows the agent, and the strategy, has been seen, while the run waits for one.
       */
      agent_unknown_since: string | null;
      /** @description Of its job: 0 goes first, then lower numbers. */
      priority: number;
      /**
       * Format: date-time
       * @description No worker starts the run before.
       */
      start_at: string | null;
      /**
       * Format: date-time
       * @description When the run fails with `expired` unless a worker has started it.
       */
      expires_at: string | null;
      /** @description The strategy it waits for, where workers know the agent and lack the strategy. */
      unknown_strategy: string | null;
      /**
       * Format: date-time
       * @description When the run was accepted.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When a worker first claimed it.
       */
      started_at: string | null;
      /**
       * Format: date-time
       * @description When the run ended.
       */
      finished_at: string | null;
      duration_ms: number | null;
    };
    Resume: {
      /** @description Signed, not encrypted. It identifies a run and its step, and contains nothing of the conversation. */
      token: string;
      /** @description A new user message; starts a new run on the same lane. */
      query?: components['schemas']['Content'];
      /** @description With a query: repeating the id returns the same run; also as Idempotency-Key. */
      request_id?: components['schemas']['Id'];
    };
    Collect: {
      /** @description Signed, not encrypted. It identifies a run and its step, and contains nothing of the conversation. */
      token: string;
    };
    CancelByToken: {
      /** @description Signed, not encrypted. It identifies a run and its step, and contains nothing of the conversation. */
      token: string;
      reason?: string;
    };
    DecisionReceipt: {
      thread_id: components['schemas']['Id'];
      run_id: components['schemas']['Id'];
      /** @description Round and index of the call, as listed in `awaiting` of the run. */
      call: string;
      /** @enum {string} */
      decision: 'approved' | 'denied';
      by: string | null;
      reason: string | null;
      /**
       * Format: date-time
       * @description When the decision was made.
       */
      decided_at: string;
      /** @description true: the same decision was made before. */
      duplicate: boolean;
      status: components['schemas']['RunStatus'];
    };
    Decision: {
      /** @description Reason of the decision; the model sees the reason of a denial. */
      reason?: string;
      /** @description Who made the decision. */
      by?: string;
    };
    RunEventPage: {
      data: components['schemas']['RunEvent'][];
      /** @description Pass it as `after` to get the next page; null on the last page. */
      next_after: number | null;
    };
    /** @description An event of the trace. */
    RunEvent: {
      /** @description Number within the thread, from 0, without gaps. */
      event_seq: number;
      run_id: components['schemas']['Id'];
      /** @description Number within the run, from 1, without gaps. */
      seq: number;
      kind: string;
      /** @description The model call it belongs to. */
      iteration: number;
      /** @description Depends on the kind; `data.seq` refers to an entry. */
      data: JsonObject;
      /**
       * Format: date-time
       * @description When the event was committed.
       */
      at: string;
    };
    MintedKey: {
      id: components['schemas']['Id'];
      /** @description Shown this once: only its hash is stored. */
      key: string;
    };
    NewKey: {
      /** @description What the key is for. */
      name: string;
      scopes: components['schemas']['Scope'][];
      /** @description Only threads of this tenant; default: that of the key that makes it. */
      tenant?: components['schemas']['Id'];
      /** @description Only runs of these agents, in threads in which no other agent has run. */
      agents?: string[];
      /** @description Only threads whose ids begin with this. */
      thread_prefix?: components['schemas']['Id'];
      limits?: components['schemas']['KeyLimits'];
      /** @description Default: never. */
      expires_in_ms?: number;
    };
    /**
     * @description `read` what is there; `run` start and resume runs and write to threads; `steer` active runs and cancel them; `approve` or deny tool calls; `admin` everything else.
     * @enum {string}
     */
    Scope: 'read' | 'run' | 'steer' | 'approve' | 'admin';
    KeyLimits: {
      /** @description Requests per minute, in each process. */
      requests_per_minute?: number;
      /** @description Runs that have not ended. */
      runs?: number;
      /** @description Open event streams, in each process. */
      streams?: number;
      /** @description Bytes of a request body. */
      body_bytes?: number;
    };
    KeyList: {
      data: components['schemas']['Key'][];
    };
    Key: {
      id: components['schemas']['Id'];
      /** @description What the key is for. */
      name: string;
      scopes: components['schemas']['Scope'][];
      /** @description Only threads of this tenant; default: that of the key that makes it. */
      tenant?: components['schemas']['Id'];
      /** @description Only runs of these agents, in threads in which no other agent has run. */
      agents?: string[];
      /** @description Only threads whose ids begin with this. */
      thread_prefix?: components['schemas']['Id'];
      limits?: components['schemas']['KeyLimits'];
      created_by: string;
      /**
       * Format: date-time
       * @description When its newest secret was made.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When it expires; null: never.
       */
      expires_at: string | null;
      /**
       * Format: date-time
       * @description When it was revoked.
       */
      revoked_at: string | null;
    };
    RotateKey: {
      /** @description How long the old secrets still work; default an hour. */
      overlap_ms?: number;
    };
    BrowserToken: {
      /** @description A Bearer token. */
      token: string;
      /**
       * Format: date-time
       * @description When it expires.
       */
      expires_at: string;
    };
    NewBrowserToken: {
      thread_id: components['schemas']['Id'];
      /** @description Only this run of the thread. */
      run_id?: components['schemas']['Id'];
      /**
       * @description `read` sees it; `chat` also asks, steers and cancels.
       * @enum {string}
       */
      access: 'read' | 'chat';
      /** @description Default 15 minutes, at most a day. */
      expires_in_ms?: number;
    };
    AuditPage: {
      data: components['schemas']['AuditEntry'][];
      /** @description Pass it as `after` to get the next page; null on the last page. */
      next_after: number | null;
    };
    AuditEntry: {
      /** @description Ascending. */
      no: number;
      /**
       * Format: date-time
       * @description When it was asked for.
       */
      at: string;
      tenant_id: components['schemas']['Id'] | null;
      /** @description `operator`, `key:<id>`, `token:<id of the key>` or `cli:<user>`. */
      actor: string;
      action: string;
      thread_id: components['schemas']['Id'] | null;
      run_id: components['schemas']['Id'] | null;
      detail: {
        [key: string]: unknown;
      };
    };
    AgentList: {
      data: components['schemas']['Agent'][];
    };
    /** @description An agent as this server knows it. */
    Agent: {
      name: string;
      model: string;
      strategy: string;
      /** @description The system prompt of lanes without their own. */
      instructions: string | null;
      /** @description Model calls of a run at most. */
      max_iterations: number;
      tools: components['schemas']['AgentTool'][];
    };
    AgentTool: components['schemas']['Tool'] & {
      needs_approval: boolean;
    };
    ApprovalPage: {
      data: components['schemas']['Approval'][];
      /** @description Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short, or empty, before the last one. */
      next_after: string | null;
    };
    /** @description A tool call that waits for human approval. */
    Approval: {
      thread_id: components['schemas']['Id'];
      run_id: components['schemas']['Id'];
      agent: string;
      /** @description From 1. */
      round: number;
      /** @description In its round, from 0. */
      index: number;
      name: string;
      /** @description Arguments from the model. */
      arguments: Json;
      /**
       * Format: date-time
       * @description Since when the call waits.
       */
      requested_at: string;
      /**
       * Format: date-time
       * @description When it is denied if nobody decides.
       */
      expires_at: string;
    };
    WorkerList: {
      data: components['schemas']['Worker'][];
    };
    /** @description A worker of any process. */
    Worker: {
      id: string;
      /**
       * @description `draining`: takes no more runs and stops once those it has are done. `dead`: was silent for too long. `stopped`: ended on its own.
       * @enum {string}
       */
      state: 'alive' | 'draining' | 'dead' | 'stopped';
      /** @description Its machine or container. */
      host: string;
      pid: number;
      /** @description Of the package. */
      version: string;
      /** @description First part of the names of the queues it takes jobs from. */
      queue: string;
      agents: string[];
      strategies: string[];
      /** @description Runs it takes at once. */
      concurrency: number;
      /** @description Runs it held at its last heartbeat. */
      runs_held: number;
      /**
       * Format: date-time
       * @description When it started.
       */
      started_at: string;
      /**
       * Format: date-time
       * @description When it was last seen.
       */
      heartbeat_at: string;
      /**
       * Format: date-time
       * @description When it ended on its own.
       */
      stopped_at: string | null;
    };
    /** @description Queue, workers, and the runs, errors, tokens and cost of the last hours. */
    Activity: {
      /** @description Unfinished runs by status. */
      runs: {
        [key: string]: number;
      };
      oldest_queued_seconds: number;
      /** @description Workers by state; dead ones of the last hour. `workers` are those that hold runs. */
      fleet: {
        alive: number;
        draining: number;
        dead: number;
      };
      jobs: {
        queue: string;
        counts: {
          [key: string]: number;
        };
      }[];
      workers: {
        id: string;
        /** @description Runs it holds. */
        runs: number;
        /**
         * Format: date-time
         * @description When the latest of their leases expires.
         */
        lease_until: string;
        /**
         * Format: date-time
         * @description When the oldest of them started.
         */
        oldest_run_at: string;
      }[];
      errors: {
        type: string;
        runs: number;
        /**
         * Format: date-time
         * @description When the last one ended.
         */
        last_at: string;
      }[];
      slots: {
        /**
         * Format: date-time
         * @description Start of the slot.
         */
        at: string;
        runs: number;
        failed: number;
        input_tokens: number;
        output_tokens: number;
        cached_tokens: number;
        /** @description In US dollars, by the list prices of the providers. */
        cost: number;
        /** @description Tokens of models whose price nobody knows; `cost` is without them. */
        unpriced_tokens: number;
      }[];
      /**
       * Format: date-time
       * @description Runs accepted since then are counted in `errors` and `slots`.
       */
      since: string;
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
