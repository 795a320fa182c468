/** A document that must be rejected, and what it tries. */
export interface HostileDocument {
  readonly about: string
  readonly document: string
}

const MEBIBYTE = 1024 * 1024

const laughs = Array.from(
  { length: 10 },
  (_, index) => `<!ENTITY l${index + 1} "${`&l${index};`.repeat(10)}">`,
).join('')

const doctypes: Readonly<Record<string, string>> = {
  'an empty DOCTYPE': '<!DOCTYPE a>',
  'a DOCTYPE in small letters': '<!doctype a>',
  'a file by SYSTEM': '<!DOCTYPE a SYSTEM "file:///etc/passwd">',
  'an address by SYSTEM': '<!DOCTYPE a SYSTEM "http://169.254.169.254/latest/meta-data/">',
  'an address by PUBLIC':
    '<!DOCTYPE a PUBLIC "-//W3C//DTD XHTML 1.0//EN" "http://localhost/x.dtd">',
  'an entity from a file': '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]>',
  'an entity from /dev/random': '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///dev/random">]>',
  'an entity from a program': '<!DOCTYPE a [<!ENTITY e SYSTEM "expect://id">]>',
  'an entity from PHP':
    '<!DOCTYPE a [<!ENTITY e SYSTEM "php://filter/read=convert.base64-encode/resource=x">]>',
  'an entity of its own': '<!DOCTYPE a [<!ENTITY e "text">]>',
  'a billion laughs': `<!DOCTYPE a [<!ENTITY l0 "lol">${laughs}<!ENTITY e "&l10;">]>`,
  'a quadratic blowup': `<!DOCTYPE a [<!ENTITY e "${'x'.repeat(100_000)}">]>`,
  'an entity of itself': '<!DOCTYPE a [<!ENTITY e "&e;">]>',
  'a parameter entity': '<!DOCTYPE a [<!ENTITY % p SYSTEM "http://localhost/p.dtd"> %p;]>',
  'parameter entities that send a file': `<!DOCTYPE a [<!ENTITY % f SYSTEM "file:///etc/passwd"><!ENTITY % q "<!ENTITY &#37; s SYSTEM 'http://localhost/?%f;'>"> %q; %s;]>`,
  'an attribute by default': '<!DOCTYPE a [<!ATTLIST a b CDATA "c">]>',
  'a notation': '<!DOCTYPE a [<!NOTATION n SYSTEM "n">]>',
  'an element declaration': '<!DOCTYPE a [<!ELEMENT a ANY>]>',
  'a DOCTYPE that does not end': '<!DOCTYPE a [',
  'a DOCTYPE with a comment': '<!DOCTYPE a [<!-- ]> -->]>',
  'a bare entity': '<!ENTITY e "text">',
  'a conditional section': '<![INCLUDE[<!ENTITY e "text">]]>',
}

const places: Readonly<Record<string, (doctype: string) => string>> = {
  first: (doctype) => `${doctype}<a>&e;</a>`,
  'after the declaration': (doctype) => `<?xml version="1.0"?>\n${doctype}\n<a>&e;</a>`,
  'after a mark': (doctype) => `\uFEFF${doctype}<a b="&e;"/>`,
  'after a comment': (doctype) => `<!-- c --> <?p?>${doctype}<a/>`,
  'in the root': (doctype) => `<a>${doctype}</a>`,
  'after the root': (doctype) => `<a/>${doctype}`,
}

const badReferences = [
  '&',
  '& ',
  '&;',
  '&amp',
  '&amp ;',
  '& amp;',
  '&AMP;',
  '&Lt;',
  '&nbsp;',
  '&copy;',
  '&e;',
  '&a:b;',
  '&%e;',
  '&&amp;',
  '&#;',
  '&#x;',
  '&#X41;',
  '&#x4G;',
  '&#-65;',
  '&#+65;',
  '&#6 5;',
  '&#65',
  '&#0;',
  '&#00;',
  '&#x0;',
  '&#1;',
  '&#8;',
  '&#11;',
  '&#12;',
  '&#x1F;',
  '&#xD800;',
  '&#xDFFF;',
  '&#55357;&#56832;',
  '&#xFFFE;',
  '&#xFFFF;',
  '&#x110000;',
  '&#1114112;',
  '&#99999999999999999999;',
  `&#${'9'.repeat(100_000)};`,
  `&#x${'F'.repeat(100_000)};`,
  `&${'a'.repeat(100_000)};`,
  '&__proto__;',
  '&constructor;',
  '&toString;',
]

const malformed = [
  '',
  ' ',
  '\n',
  '\uFEFF',
  '<',
  '>',
  '/',
  '<>',
  '</>',
  '<a',
  '<a ',
  '<a/',
  '<a>',
  '<a><',
  '<a></',
  '<a></a',
  '<a></a ',
  '</a>',
  '<a></b>',
  '<a><b></a></b>',
  '<a></A>',
  '<a></a b="">',
  '<a></ a>',
  '< a/>',
  '<a / >',
  '<a/ >',
  '<a//>',
  '<a/><a/>',
  '<a/>x',
  'x<a/>',
  '<a/>&amp;',
  '<a/><![CDATA[x]]>',
  '<![CDATA[x]]><a/>',
  '\u00A0<a/>',
  '<1/>',
  '<-a/>',
  '<.a/>',
  '<:a/>',
  '<a:/>',
  '<a:b:c/>',
  '<a$/>',
  '<a b/>',
  '<a b=/>',
  '<a b=c/>',
  '<a b="c/>',
  "<a b='c/>",
  '<a b="c\'/>',
  '<a b="<"/>',
  '<a b="c"d="e"/>',
  '<a b="" b=""/>',
  '<a b=\'\' b=""/>',
  '<a b="&amp;" b=""/>',
  '<a =""/>',
  '<a 1=""/>',
  '<a b:=""/>',
  '<a "b"/>',
  '<a b==""/>',
  '<a b="" /c/>',
  '<a/b=""/>',
  '<a>]]></a>',
  '<a>]]]></a>',
  '<a><![CDATA[</a>',
  '<a><![CDATA[]]</a>',
  '<a><![cdata[]]></a>',
  '<a><! [CDATA[]]></a>',
  '<a><!-- </a>',
  '<a><!-- -- --></a>',
  '<a><!-- ---></a>',
  '<a><!---></a>',
  '<a><!- - --></a>',
  '<!--',
  '<a><?</a>',
  '<a><??></a>',
  '<a><? p?></a>',
  '<a><?p</a>',
  '<a><?p"?></a>',
  '<a><?xml version="1.0"?></a>',
  '<a><?XML?></a>',
  ' <?xml version="1.0"?><a/>',
  '<!----><?xml version="1.0"?><a/>',
  '<?xml?><a/>',
  '<?xml version="1.1"?><a/>',
  '<?xml version="1.0" encoding="UTF-16"?><a/>',
  '<?xml version="1.0" encoding="UTF-7"?><a/>',
  '<?xml encoding="UTF-8" version="1.0"?><a/>',
  '<?xml version="1.0" version="1.0"?><a/>',
  '<?xml version="1.0" standalone="maybe"?><a/>',
  '<?xml version="1.0"encoding="UTF-8"?><a/>',
  '<?xml version="1.0">',
  '<a>\u0000</a>',
  '<a>\u000B</a>',
  '<a b="\u001B"/>',
  '<a>\uFFFE</a>',
  '<a>\uD800</a>',
  '<a>\uDC00\uD800</a>',
  '<\u0000a/>',
  '\uFEFF\uFEFF<a/>',
]

const filled = (piece: string, bytes = MEBIBYTE - 1_000) =>
  piece.repeat(Math.floor(bytes / piece.length))

// Each is nearly as long as a document may be, so that more than linear time shows.
const heavy: Readonly<Record<string, string>> = {
  'elements that do not end': filled('<a>'),
  'elements of one kind': `<r>${filled('<a/>')}</r>`,
  'elements with text': `<r>${filled('<a>b</a>')}</r>`,
  'attributes without end': `<a ${filled('b="" ')}`,
  'different attributes': `<a ${Array.from({ length: 90_000 }, (_, index) => `b${index}=""`).join(' ')}/>`,
  ampersands: `<a>${filled('&')}</a>`,
  'references that do not end': `<a>${filled('&amp')}</a>`,
  'digits that do not end': `<a>&#${filled('1')}</a>`,
  'comments that do not end': `<a>${filled('<!--')}`,
  hyphens: `<a><!--${filled('-')}`,
  'CDATA that does not end': `<a>${filled('<![CDATA[')}`,
  brackets: `<a>${filled(']')}></a>`,
  'instructions that do not end': `<a>${filled('<?p ')}`,
  'instructions then nothing': filled('<?p?>'),
  'white space before nothing': filled(' '),
  'white space in a tag': `<a${filled(' ')}`,
  'white space in a declaration': `<?xml ${filled(' ')}version="1.0"${filled(' ', 10)}?><a/>`,
  'a declaration of equals signs': `<?xml version${filled('=')}?><a/>`,
  'a long name and another': `<${filled('n', 500_000)}></${filled('n', 500_001)}>`,
  colons: `<a${filled(':a')}/>`,
  quotes: `<a b=${filled('"')}/>`,
  'lines and then a fault': `<a>${filled('\r\n')}&e;</a>`,
  'comments between texts': `<a>${filled('b<!---->')}`,
  'more than a document may have': `<a>${filled('b', 64 * MEBIBYTE)}</a>`,
  'more bytes than characters': `<a>${filled('中', 3 * 1024 * 1024)}</a>`,
}

/** Every document that the parser must reject. */
export function hostileDocuments(): HostileDocument[] {
  const all: HostileDocument[] = []
  for (const [what, doctype] of Object.entries(doctypes)) {
    for (const [where, place] of Object.entries(places)) {
      all.push({ about: `${what}, ${where}`, document: place(doctype) })
    }
  }
  for (const reference of badReferences) {
    const about = `the reference ${reference.slice(0, 20)}`
    all.push({ about: `${about} in text`, document: `<a>b${reference}c</a>` })
    all.push({ about: `${about} in a value`, document: `<a b='${reference}'/>` })
  }
  for (const document of malformed) all.push({ about: JSON.stringify(document), document })
  for (const [about, document] of Object.entries(heavy)) all.push({ about, document })
  return all
}
