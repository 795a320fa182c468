import { command } from '../command.ts'
import { completionScripts } from '../complete.ts'
import { Failure } from '../failure.ts'

export const completion = command({
  name: 'completion',
  asks: 'nobody',
  usage: 'SHELL',
  summary: 'a script that completes our words in bash or zsh: source <(skerry completion bash)',
  examples: ['skerry completion bash', 'skerry completion zsh'],
  next: 'put this into ~/.bashrc: source <(skerry completion bash)',
  async run({ print }, { words: [shell = ''] }) {
    if (shell !== 'bash' && shell !== 'zsh') {
      throw new Failure('usage', `the shell must be bash or zsh, not ${shell}`, {
        hint: 'source <(skerry completion bash)',
      })
    }
    print(completionScripts[shell])
  },
})
