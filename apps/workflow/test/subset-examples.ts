import type { Refused } from '../src/definition/refused.ts'

/** One construct of the DSL with an example of it: what the reference shows, and what the tests hold it to. */
export interface Construct {
  readonly name: string
  readonly about: string
  /** Stands behind the head; with `do:` in it, or it gets one task. */
  readonly example: string
  /** By which name it is refused; undefined: it is run. */
  readonly refused?: Refused
}

export const functions = new Set([
  ...['skerry.vm.powerOn', 'skerry.vm.powerOff', 'skerry.vm.get', 'skerry.vapp.get'],
])

export const head = (dsl = '1.0.0'): string =>
  `document:\n  dsl: '${dsl}'\n  namespace: examples\n  name: example\n  version: '1.0.0'\n`

export const supported: readonly Construct[] = [
  {
    name: 'do',
    about: 'Tasks one after the other. Each sees the output of the one before as its input.',
    example: `do:
  - both:
      do:
        - first:
            set: { colours: '\${ .colours + ["red"] }' }
        - second:
            set: { colours: '\${ .colours + ["blue"] }' }
`,
  },
  {
    name: 'set',
    about: 'Data, with expressions in it. From DSL 1.0.1 also one expression for the whole.',
    example: `do:
  - shape:
      set:
        shape: circle
        size: '\${ .configuration.size }'
`,
  },
  {
    name: 'switch',
    about: 'The first case that is met says where to go on; one without `when` is always met.',
    example: `do:
  - look:
      switch:
        - on:
            when: .power == "on"
            then: stop
        - otherwise:
            then: end
  - stop:
      call: skerry.vm.powerOff
      with: { vm: '\${ .vm }' }
`,
  },
  {
    name: 'for',
    about:
      'Over a list, as $item and $index or under names of your own; `while` may end it sooner.',
    example: `do:
  - everyVm:
      for:
        each: vm
        in: .vms
        at: position
      while: .failed != true
      do:
        - start:
            call: skerry.vm.powerOn
            with: { vm: '\${ $vm }' }
`,
  },
  {
    name: 'fork',
    about:
      'All branches at once; the output is the list of theirs. With `compete` the first to end wins, and the others are cancelled.',
    example: `do:
  - race:
      fork:
        compete: true
        branches:
          - one:
              wait: PT1S
          - other:
              wait: PT2S
`,
  },
  {
    name: 'try, catch, retry',
    about:
      'Errors by type, status or an expression; tried again with constant, linear or exponential backoff, jitter and limits; then `do`.',
    example: `use:
  retries:
    patient:
      delay: PT2S
      backoff: { exponential: {} }
      jitter: { from: PT0S, to: PT1S }
      limit: { attempt: { count: 5 }, duration: PT5M }
do:
  - ask:
      try:
        - call:
            call: http
            with: { method: get, endpoint: 'https://status.example/vm/{vm}' }
      catch:
        errors:
          with:
            type: https://serverlessworkflow.io/spec/1.0.0/errors/communication
        as: problem
        when: '$problem.status != 404'
        retry: patient
        do:
          - note:
              set: { answer: '\${ $problem.title }' }
`,
  },
  {
    name: 'wait',
    about:
      'ISO 8601 or its parts, up to 366 days. Years and months are not taken: they have no fixed length.',
    example: `do:
  - rest:
      wait: { minutes: 5 }
`,
  },
  {
    name: 'listen',
    about:
      'Waits for events that are sent to this run: one, any of several, or all. Their type is a plain word; `source`, `subject` and `id` must be equal where given, `data` is an expression over the event’s data. The output is the list of events.',
    example: `do:
  - told:
      listen:
        to:
          any:
            - with: { type: example.backup.done }
            - with: { type: example.backup.failed, data: .final == true }
`,
  },
  {
    name: 'listen to a person (skerry.interaction)',
    about:
      'The DSL leaves `metadata` to the runtime. A listen task to the one event `skerry.interaction` has its question there: title, text and a form as JSON Schema. The run is `waiting-signal` until somebody answers; the answer keeps to the form and is the event’s data.',
    example: `do:
  - agree:
      listen:
        to:
          one:
            with: { type: skerry.interaction }
      output:
        as: .[0]
      metadata:
        interaction:
          title: \${ "Restart " + .vm + "?" }
          form:
            type: object
            properties:
              go: { type: boolean, title: Restart it }
              reason: { type: string, maxLength: 200 }
            required: [go]
`,
  },
  {
    name: 'raise',
    about:
      'An error as RFC 7807 has it, written out or named from `use.errors`. Its instance is the task’s place unless told.',
    example: `use:
  errors:
    tooFew:
      type: https://example.test/errors/too-few
      status: 409
      title: Too few VMs
do:
  - stop:
      raise: { error: tooFew }
`,
  },
  {
    name: 'run workflow',
    about:
      'A workflow of the same organisation, in a version or the latest. With `await: false` it is started and not waited for.',
    example: `do:
  - other:
      run:
        workflow:
          namespace: examples
          name: snapshot
          version: '1.0.0'
          input: { vapp: '\${ .vapp }' }
        await: true
`,
  },
  {
    name: 'call http',
    about:
      'Through the egress, which lets out only to addresses that the organisation has on its list, and follows no redirect. Basic and bearer authentication, by expressions.',
    example: `use:
  authentications:
    mine:
      bearer: { token: '\${ $workflow.input.token }' }
input:
  schema:
    document:
      type: object
      properties:
        token: { type: string, format: password }
do:
  - ask:
      call: http
      with:
        method: post
        endpoint:
          uri: https://tickets.example/{project}/issues
          authentication: { use: mine }
        headers: { accept: application/json }
        body: { title: '\${ .title }' }
        output: response
`,
  },
  {
    name: 'call a function of ours',
    about:
      'What the cloud API does, as `skerry.*`, in the name of who started the run. All of them: [functions](workflow-functions.md).',
    example: `do:
  - start:
      call: skerry.vm.powerOn
      with: { vm: '\${ .vm }' }
`,
  },
  {
    name: 'use.functions',
    about:
      'A task under a name, called with `with` as its input. It may not call itself, nor round about.',
    example: `use:
  functions:
    greet:
      set: { text: '\${ "Hello " + .name }' }
do:
  - hello:
      call: greet
      with: { name: world }
`,
  },
  {
    name: 'then',
    about:
      '`continue`, `exit` (out of this list), `end` (of the workflow), or the name of a task in the same list.',
    example: `do:
  - first:
      set: { a: 1 }
      then: last
  - never:
      set: { a: 2 }
  - last:
      set: { b: '\${ .a }' }
      then: end
`,
  },
  {
    name: 'if',
    about: 'Not met: the task is skipped, and its input is its output.',
    example: `do:
  - perhaps:
      if: '\${ .power == "off" }'
      call: skerry.vm.powerOn
      with: { vm: '\${ .vm }' }
`,
  },
  {
    name: 'input, output, export',
    about:
      'Schemas (JSON Schema, written out) and transforms on the workflow and on each task; `export` sets $context.',
    example: `input:
  schema:
    format: json
    document:
      type: object
      properties:
        user: { type: object }
      required: [user]
  from: .user
output:
  as: '{ name: .name }'
do:
  - name:
      input: { from: .claims }
      set: { name: '\${ .subject }' }
      output: { as: { name: '\${ .name }' } }
      export: { as: '$context + { seen: .name }' }
`,
  },
  {
    name: 'timeout',
    about: 'On the workflow and on each task, written out or named from `use.timeouts`.',
    example: `use:
  timeouts:
    short: { after: PT10S }
timeout: { after: PT1H }
do:
  - start:
      call: skerry.vm.powerOn
      with: { vm: '\${ .vm }' }
      timeout: short
`,
  },
]
