import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

const SCRIPT = `
import json, sys
from xml.parsers import expat

class Refused(Exception):
    pass

def refuse(*_):
    raise Refused()

def read(document):
    parser = expat.ParserCreate()
    parser.buffer_text = True
    top = {'children': []}
    path = [top]
    def start(name, attributes):
        element = {'name': name, 'attributes': attributes, 'children': []}
        path[-1]['children'].append(element)
        path.append(element)
    def characters(data):
        children = path[-1]['children']
        if children and isinstance(children[-1], str):
            children[-1] += data
        else:
            children.append(data)
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda name: path.pop()
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(document.encode(), True)
    except (expat.ExpatError, Refused):
        return None
    return top['children'][0]

json.dump([read(document) for document in json.load(sys.stdin)], sys.stdout)
`

/** The results of another parser for the documents: a tree, or null if it rejects one. Undefined if python3 is missing. */
export async function askExpat(documents: readonly string[]): Promise<unknown[] | undefined> {
  const python = spawn('python3', ['-c', SCRIPT], { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(python, 'close')
  const output = text(python.stdout)
  try {
    await once(python, 'spawn')
  } catch {
    return undefined
  }
  python.stdin.end(JSON.stringify(documents))
  const answers = JSON.parse(await output) as unknown[]
  await exited
  return answers
}
