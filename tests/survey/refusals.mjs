// node refusals.mjs DEVICE: reads forms, writes what the device says against each, or null.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const device = pathToFileURL(process.argv[2]), { read } = await import(device);
await import(new URL("rounds.mjs", device));

function refusal(form) {
  try {
    read(form);
    return null;
  } catch (error) {
    return error instanceof RangeError ? error.message : String(error);
  }
}

console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(refusal)));
