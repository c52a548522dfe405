/** The Model Context Protocol around a session. */
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Context } from '@runner/common/cli/command';
import { failureIn } from '@runner/common/foundation/attempt';
import type { Server } from '@runner/common/foundation/paths';
import type { Grant } from '@runner/deploy/approval/grants';
import { AgentSession } from './session.ts';
import { schemaOf } from './tools.ts';

declare const __VERSION__: string;

/** Bytes of a message: arguments are short. */
const MESSAGE_MAX = 1_048_576;
const UNREADABLE = 'a message is not one of the protocol, or longer than 1 MiB';
/** In place of the end of a longer one: it cannot be read. */
const CUT = Buffer.from('\0\n');
const NEWLINE = 0x0a;

const INSTRUCTIONS =
  'Deploys of apps on one server. When something fails, call explain first. What you may do is decided on the server; plans need the approval of a person there.';

/** The stream with each line cut that is too long: the protocol's own limit would end the session. */
async function* cutLong(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let length = 0;
  for await (const chunk of input)
    for (let from = 0; from < chunk.length; ) {
      const at = chunk.indexOf(NEWLINE, from);
      const piece = chunk.subarray(from, at === -1 ? chunk.length : at + 1);
      from += piece.length;
      length += piece.length;
      if (length <= MESSAGE_MAX) yield piece;
      else if (at !== -1) yield CUT;
      if (at !== -1) length = 0;
    }
}

/** Answers over a transport, by default stdio, until it closes, stdin ends or a signal comes. */
export async function serve(
  server: Server & Pick<Context, 'note'>,
  grant: Grant | undefined,
  given?: Transport,
): Promise<void> {
  // Large: only a session needs it.
  const { Server: ProtocolServer } = await import('@modelcontextprotocol/sdk/server/index.js');
  const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
  const schemas = await import('@modelcontextprotocol/sdk/types.js');
  const { Readable } = await import('node:stream');
  const input = Readable.from(cutLong(given ? Readable.from([]) : process.stdin));
  const options = { maxBufferSize: MESSAGE_MAX + CUT.length };
  const transport = given ?? new StdioServerTransport(input, process.stdout, options);
  const ending = new AbortController();
  const session = new AgentSession(server, grant, ending.signal);
  const protocol = new ProtocolServer(
    { name: 'runner', version: __VERSION__ },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  protocol.setRequestHandler(schemas.ListToolsRequestSchema, () => ({
    tools: session.tools().map((tool) => {
      const { name, description } = tool;
      return { name, description, inputSchema: schemaOf(tool) };
    }),
  }));
  // Of any form: what is wrong with a call is said in words, and recorded.
  protocol.fallbackRequestHandler = async ({ method, params = {} }) => {
    if (method !== 'tools/call')
      throw new schemas.McpError(schemas.ErrorCode.MethodNotFound, 'Method not found');
    const { text, isError } = await session.call(String(params.name), params.arguments);
    return { content: [{ type: 'text', text }], isError };
  };
  transport.onerror = () => {
    const failure = failureIn(() => session.unreadable());
    server.note(failure?.message ?? UNREADABLE);
    // It has no id to answer to.
    const error = { code: schemas.ErrorCode.InvalidRequest, message: UNREADABLE };
    void transport.send({ jsonrpc: '2.0', error });
  };
  const end = () => ending.abort();
  const remove = server.io.onSignal(end);
  if (!given) input.once('end', end).once('close', end);
  protocol.onclose = end;
  const ended = new Promise((resolve) => ending.signal.addEventListener('abort', resolve));
  await protocol.connect(transport);
  await ended;
  await session.settled();
  remove();
}
