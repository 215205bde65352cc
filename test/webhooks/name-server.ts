import { createSocket } from 'node:dgram';
import { once } from 'node:events';

export interface NameServer {
  /** As `Resolver.setServers` takes it. */
  address: string;
  /** The names that were asked for. */
  asked: string[];
  close(): void;
}

const types = { A: 1, AAAA: 28 } as const;

/** A name server on the loopback interface that knows these names; of a name with `undefined` it does not answer. */
export async function startNameServer(
  names: Record<string, { A?: string; AAAA?: string } | undefined>,
): Promise<NameServer> {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const end = query.indexOf(0, 12);
    const name = labelsOf(query.subarray(12, end)).join('.');
    const type = query.readUInt16BE(end + 1);
    asked.push(name);
    if (Object.hasOwn(names, name) && !names[name]) return;
    const known = names[name];
    const found = known && (type === types.A ? known.A : type === types.AAAA ? known.AAAA : undefined);
    const header = Buffer.from(query.subarray(0, 12));
    // an answer; the code 3 says that there is no such name
    header.writeUInt16BE(known ? 0x8180 : 0x8183, 2);
    header.writeUInt16BE(found ? 1 : 0, 6);
    header.fill(0, 8);
    const question = query.subarray(12, end + 5);
    socket.send(Buffer.concat([header, question, ...(found ? [recordOf(type, found)] : [])]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { address: `127.0.0.1:${socket.address().port}`, asked, close: () => void socket.close() };
}

function labelsOf(bytes: Buffer): string[] {
  const length = bytes[0];
  if (length === undefined) return [];
  return [bytes.subarray(1, 1 + length).toString(), ...labelsOf(bytes.subarray(1 + length))];
}

/** A record of the name in the question. */
function recordOf(type: number, address: string): Buffer {
  const data =
    type === types.A
      ? Buffer.from(address.split('.').map(Number))
      : Buffer.from(
          address
            .split(':')
            .map((part) => part.padStart(4, '0'))
            .join(''),
          'hex',
        );
  const record = Buffer.alloc(12);
  record.writeUInt16BE(0xc00c, 0);
  record.writeUInt16BE(type, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt16BE(data.length, 10);
  return Buffer.concat([record, data]);
}
