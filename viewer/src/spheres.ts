// Points as lit balls: squares that face the camera, shaded and with the depth of spheres. A million are no trouble.
import * as three from "three";
import { writable } from "./buffers";
import { sunDirection } from "./stage";

const vertexShader = /* glsl */ `
  attribute vec2 place;
  uniform float radius, pixels;
  varying vec2 vPlace;
  varying vec3 vCentre;
  void main() {
    vec4 centre = modelViewMatrix * vec4(position, 1.0);
    vCentre = centre.xyz;
    vPlace = place;
    gl_Position = projectionMatrix * centre;
    gl_PointSize = max(1.0, 2.0 * radius * pixels / max(-centre.z, 1e-9));
  }`;

const fragmentShader = /* glsl */ `
  uniform sampler2D map;
  uniform vec3 color, sun;
  uniform float radius;
  uniform bool mapped;
  uniform mat4 projectionMatrix;
  varying vec2 vPlace;
  varying vec3 vCentre;
  void main() {
    vec2 offset = 2.0 * gl_PointCoord - 1.0;
    float inside = 1.0 - dot(offset, offset);
    if (inside < 0.0) discard;
    vec3 normal = vec3(offset.x, -offset.y, sqrt(inside));
    vec4 clip = projectionMatrix * vec4(vCentre + radius * normal, 1.0);
    gl_FragDepth = 0.5 * clip.z / clip.w + 0.5;
    vec3 base = mapped ? texture2D(map, vPlace).rgb : color;
    float lit = 0.42 + 0.62 * max(dot(normal, sun), 0.0);
    gl_FragColor = vec4(base * lit, 1.0);
    #include <colorspace_fragment>
  }`;

export class Spheres {
  readonly points: three.Points<three.BufferGeometry, three.ShaderMaterial>;

  constructor() {
    const uniforms = {
      radius: { value: 0.01 }, pixels: { value: 500 }, map: { value: null as three.Texture | null },
      color: { value: new three.Color(0x808080) }, mapped: { value: false }, sun: { value: sunDirection },
    };
    const material = new three.ShaderMaterial({ vertexShader, fragmentShader, uniforms });
    this.points = new three.Points(new three.BufferGeometry(), material);
    this.points.frustumCulled = false;
  }

  set(position: Float32Array, radius: number, color: three.Color, map: three.Texture | null, place: Float32Array | undefined): void {
    const { geometry, material } = this.points;
    const count = position.length / 3;
    writable(geometry, "position", 3, count).set(position);
    if (place || geometry.getAttribute("place")?.count !== count) writable(geometry, "place", 2, count).set(place ?? []);
    geometry.boundingSphere = null;
    Object.assign(material.uniforms.radius, { value: radius });
    Object.assign(material.uniforms.map, { value: map });
    Object.assign(material.uniforms.mapped, { value: map !== null });
    material.uniforms.color.value.copy(color);
  }
}
