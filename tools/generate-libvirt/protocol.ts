// Parses libvirt's protocol files (.x, the language of rpcgen).

export interface Field {
  readonly name: string
  readonly type: string
  readonly length:
    | { readonly kind: 'one' }
    | { readonly kind: 'fixed' | 'upTo'; readonly size: number }
}

export interface ProtocolProcedure {
  /** As libvirt writes it: REMOTE_PROC_DOMAIN_CREATE. */
  readonly name: string
  readonly number: number
  readonly stream: 'read' | 'write' | undefined
}

export interface Protocol {
  readonly constants: Map<string, number>
  readonly structs: Map<string, readonly Field[]>
  /** An alias of another type: `typedef A B` and `typedef A *B` (optional). */
  readonly aliases: Map<string, { readonly field: Field; readonly optional: boolean }>
  readonly procedures: readonly ProtocolProcedure[]
}

/** Array sizes that the protocol takes from the C headers. */
export type Outside = ReadonlyMap<string, number>

export function readProtocol(text: string, outside: Outside): Protocol {
  const plain = withoutComments(text)
  const constants = new Map(outside)
  for (const [, name = '', value = ''] of plain.matchAll(/^const (\w+)\s*=\s*(\w+);/gm)) {
    constants.set(name, constants.get(value) ?? toNumber(value))
  }
  const structs = new Map<string, Field[]>()
  for (const [, name = '', body = ''] of plain.matchAll(/^struct (\w+) \{([^}]*)\};/gm)) {
    structs.set(name, readFields(body, constants))
  }
  const aliases: Protocol['aliases'] = new Map()
  for (const [, declaration = ''] of plain.matchAll(/^typedef ([^;]+);/gm)) {
    const optional = declaration.includes('*')
    const [field] = readFields(`${declaration.replace('*', ' ')};`, constants)
    if (field !== undefined) aliases.set(field.name, { field, optional })
  }
  return { constants, structs, aliases, procedures: readProcedures(text) }
}

function readFields(body: string, constants: ReadonlyMap<string, number>): Field[] {
  return body
    .split(';')
    .map((line) => line.trim().replaceAll(/\s+/g, ' '))
    .filter((line) => line !== '')
    .map((line) => {
      const parts = /^(.+?) (\w+)(?:([[<])(\w+)[\]>])?$/.exec(line)
      if (parts === null) throw new Error(`cannot parse the field "${line}"`)
      const [, type = '', name = '', bracket, size = ''] = parts
      if (bracket === undefined) return { name, type, length: { kind: 'one' } }
      const known = constants.get(size) ?? toNumber(size)
      return { name, type, length: { kind: bracket === '[' ? 'fixed' : 'upTo', size: known } }
    })
}

/** The numbers of the procedures, and whether the comment before one marks it as a stream. */
function readProcedures(text: string): ProtocolProcedure[] {
  const found: ProtocolProcedure[] = []
  for (const [whole, name = '', number = ''] of text.matchAll(
    /(?:\/\*\*(?:(?!\*\/)[^])*\*\/\s*)?\b((?:REMOTE|QEMU)_PROC_\w+)\s*=\s*(\d+)/g,
  )) {
    const stream = /@(read|write)stream: \d/.exec(whole)?.[1]
    found.push({ name, number: Number(number), stream: stream as 'read' | 'write' | undefined })
  }
  return found
}

export function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[^]*?\*\//g, ' ')
}

function toNumber(text: string): number {
  const number = Number(text)
  if (!Number.isInteger(number)) throw new Error(`"${text}" is neither a number nor a known name`)
  return number
}
