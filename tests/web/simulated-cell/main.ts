// `node tests/web/simulated-cell/main.ts` serves the page at http://localhost:8791/ui/ until Ctrl-C; users: alice@eng, bob@eng,
// carol@eng and root@System, password: skerry.
import { startSimulatedCell } from './server.ts'

const { url } = await startSimulatedCell({ port: Number(process.env['PORT'] ?? 8791) })
console.log(`${url}/ui/`)
