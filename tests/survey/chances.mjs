// node chances.mjs DEVICE: reads [top, bottom, m, bits], writes the enclosure of the top, and floor and ceiling.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { Chance } = await import(pathToFileURL(process.argv[2]));

const found = JSON.parse(readFileSync(0, "utf8")).map(([top, bottom, m, bits]) => {
  const chance = new Chance(top, bottom, m);
  return [chance.sum(chance.top, bits), chance.bounds(bits)].map((pair) => pair.map(String));
});
console.log(JSON.stringify(found));
