// Documents that try to make their parser read other resources or expand: each has a DOCTYPE or an entity of its own.
export interface Lures {
  /** A file whose read is detected. */
  readonly file: string
  /** The address of a listener that must not be contacted. */
  readonly url: string
}

/** Attacks around a valid document: text before its root, and in its values and texts. */
type Trick = readonly [prolog: string, inside: string]

const laughs = (of: string, depth: number): string =>
  Array.from({ length: depth }, (_, at) => {
    const inner = at === 0 ? of : `&l${at - 1};`.repeat(10)
    return `<!ENTITY l${at} "${inner}">`
  }).join('')

const tricksWith = ({ file, url }: Lures): readonly Trick[] => {
  const targets = [`file://${file}`, file, `${url}/x`, `jar:file://${file}!/x`, `data:text/plain,x`]
  return [
    ...targets.flatMap((target): Trick[] => [
      [`<!DOCTYPE r [<!ENTITY e SYSTEM "${target}">]>`, '&e;'],
      [`<!DOCTYPE r [<!ENTITY e PUBLIC "x" "${target}">]>`, '&e;'],
      [`<!DOCTYPE r SYSTEM "${target}">`, ''],
      [`<!DOCTYPE r PUBLIC "-//X//Y" "${target}">`, ''],
      [`<!DOCTYPE r [<!ENTITY % p SYSTEM "${target}"> %p;]>`, ''],
      [`<!DOCTYPE r [<!ENTITY % p "<!ENTITY e SYSTEM '${target}'>"> %p;]>`, '&e;'],
      [`<!DOCTYPE r [<!NOTATION n SYSTEM "${target}"><!ENTITY e SYSTEM "${target}" NDATA n>]>`, ''],
      [
        `<!DOCTYPE r [<!ELEMENT r ANY><!ATTLIST r a CDATA "x"><!ENTITY e SYSTEM "${target}">]>`,
        '&e;',
      ],
      [`<?xml-stylesheet href="${target}"?><!DOCTYPE r [<!ENTITY e SYSTEM "${target}">]>`, '&e;'],
      [`<!-- x --><!DOCTYPE r [<!ENTITY e SYSTEM "${target}">]>`, '&e;'],
      [`\n\n  <!DOCTYPE r SYSTEM '${target}' []>\n`, ''],
    ]),
    [`<!DOCTYPE r [${laughs('ha', 10)}]>`, '&l9;'],
    [`<!DOCTYPE r [${laughs('ha', 30)}]>`, '&l29;'],
    [`<!DOCTYPE r [<!ENTITY a "${'x'.repeat(50_000)}">]>`, '&a;'.repeat(10_000)],
    ['<!DOCTYPE r [<!ENTITY a "&b;"><!ENTITY b "&a;">]>', '&a;'],
    ['<!DOCTYPE r [<!ENTITY lt "&#38;#60;">]>', '&lt;'],
    ['<!DOCTYPE r>', ''],
    ['<!doctype r>', ''],
    ['<!DOCTYPE', ''],
    ['<!DOCTYPE r [', ''],
    ['<!ENTITY e "x">', '&e;'],
    ['', '&e;'],
    ['', '&e.e;'],
    ['', '&#x0;'],
    ['', '%e; &e;'],
    ['', `<!DOCTYPE r SYSTEM "${url}">`],
    ['', `<!ENTITY e SYSTEM "file://${file}">`],
  ]
}

/** A character encoding in which a search for '<!DOCTYPE' finds nothing. */
const encodings: readonly ((text: string) => string)[] = [
  (text) => `<?xml version="1.0"?>${text}`,
  (text) => `<?xml version="1.0" encoding="UTF-8" standalone="no"?>${text}`,
  (text) => Buffer.from(`\ufeff${text}`, 'utf8').toString('latin1'),
  (text) => Buffer.from(`\ufeff${text}`, 'utf16le').toString('latin1'),
  (text) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16().toString('latin1'),
  (text) => `<?xml version="1.1" encoding="UTF-7"?>${text.replaceAll('<', '+ADw-')}`,
]

/** One document for each trick, with alternating encodings. */
export function* entityBodies(body: string, lures: Lures, from: number): Generator<string> {
  let at = from
  for (const [prolog, inside] of tricksWith(lures)) {
    // In the first value or text of the document.
    const filled =
      inside === '' ? body : body.replace(/(?<= [a-z]+=")[^"]*(?=")|(?<=>)[^<]+(?=<)/i, inside)
    const entity = inside !== '' && filled === body ? `${body}${inside}` : filled
    yield (encodings[at % encodings.length] as (text: string) => string)(prolog + entity)
    at += 1
  }
}
